"""The languages of the engine and which of them a file is in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

TEXT = "text"
"""The language of a file of any other type: its only symbol is `<document>`."""


@dataclass(frozen=True, slots=True)
class Language:
    """How files in a language are named, and the distributions that decide what is found in them.

    Extensions are lower-case without a dot, base names exact, content types lower-case without
    parameters: MIME types and bare names beside the language's own.
    """

    extensions: tuple[str, ...]
    distributions: tuple[str, ...] = ()
    base_names: tuple[str, ...] = ()
    content_types: tuple[str, ...] = ()


def _tree_sitter(grammar: str) -> tuple[str, ...]:
    return ("tree-sitter", f"tree-sitter-{grammar}")


LANGUAGES = {
    "bash": Language(
        ("sh", "bash", "zsh", "ksh"),
        _tree_sitter("bash"),
        (".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv"),
        (
            "application/x-sh",
            "application/x-shellscript",
            "text/x-sh",
            "text/x-shellscript",
            "shell",
            "sh",
            "zsh",
        ),
    ),
    "c": Language(("c", "h"), _tree_sitter("c"), (), ("text/x-c", "text/x-csrc", "text/x-chdr")),
    "cpp": Language(
        ("cc", "cpp", "cxx", "hh", "hpp", "hxx", "ipp"),
        _tree_sitter("cpp"),
        (),
        ("text/x-c++", "text/x-c++src", "text/x-c++hdr", "c++"),
    ),
    "csharp": Language(
        ("cs", "csx"), _tree_sitter("c-sharp"), (), ("text/x-csharp", "c#", "c-sharp")
    ),
    "css": Language(("css",), _tree_sitter("css"), (), ("text/css",)),
    "go": Language(("go",), _tree_sitter("go"), (), ("text/x-go", "golang")),
    "html": Language(
        ("html", "htm"), _tree_sitter("html"), (), ("text/html", "application/xhtml+xml")
    ),
    "ini": Language(
        ("ini", "cfg", "conf", "env", "properties"),
        (),
        (".env", ".editorconfig", ".gitconfig", ".gitmodules", ".npmrc", ".flake8", ".pylintrc"),
        ("text/x-ini", "text/x-properties", "properties", "dotenv"),
    ),
    "java": Language(("java",), _tree_sitter("java"), (), ("text/x-java", "text/x-java-source")),
    "javascript": Language(
        ("js", "mjs", "cjs", "jsx"),
        _tree_sitter("javascript"),
        (),
        (
            "text/javascript",
            "application/javascript",
            "application/x-javascript",
            "text/jsx",
            "js",
            "jsx",
        ),
    ),
    "json": Language(
        ("json", "jsonc"),
        _tree_sitter("json"),
        ("composer.lock", "Pipfile.lock", ".babelrc", ".eslintrc", ".prettierrc"),
        ("application/json", "text/json", "application/jsonc", "jsonc"),
    ),
    "markdown": Language(
        ("md", "markdown"),
        ("markdown-it-py", "mdurl"),
        (),
        ("text/markdown", "text/x-markdown", "md"),
    ),
    "php": Language(
        ("php", "phtml"),
        _tree_sitter("php"),
        (),
        ("application/x-httpd-php", "application/x-php", "text/x-php"),
    ),
    "python": Language(
        ("py", "pyi", "pyw"),
        _tree_sitter("python"),
        ("SConstruct", "SConscript"),
        ("text/x-python", "application/x-python", "application/x-python-code", "py"),
    ),
    "ruby": Language(
        ("rb", "rake", "gemspec"),
        _tree_sitter("ruby"),
        ("Gemfile", "Rakefile", "Guardfile", "Vagrantfile", "Podfile", "Brewfile"),
        ("text/x-ruby", "application/x-ruby", "rb"),
    ),
    "rust": Language(("rs",), _tree_sitter("rust"), (), ("text/x-rust", "text/rust", "rs")),
    "sql": Language(("sql",), (), (), ("application/sql", "text/x-sql", "text/sql")),
    "toml": Language(
        ("toml",),
        _tree_sitter("toml"),
        ("Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile"),
        ("application/toml", "text/x-toml"),
    ),
    "tsx": Language(("tsx",), _tree_sitter("typescript"), (), ("text/tsx",)),
    "typescript": Language(
        ("ts", "mts", "cts"),
        _tree_sitter("typescript"),
        (),
        ("text/typescript", "application/typescript", "text/x-typescript", "ts"),
    ),
    "yaml": Language(
        ("yaml", "yml"),
        ("pyyaml",),
        (".clang-format", ".clang-tidy", ".yamllint"),
        ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "yml"),
    ),
}
"""The languages with extractors, by name: the module of `extractors` has it too."""

_BY_BASE_NAME = {name: key for key, one in LANGUAGES.items() for name in one.base_names}
_BY_EXTENSION = {name: key for key, one in LANGUAGES.items() for name in one.extensions}
_BY_CONTENT_TYPE = {
    name: key for key, one in LANGUAGES.items() for name in (key, *one.content_types)
}
_CPLUSPLUS = re.compile(r"^[ \t]*(?:class|namespace|template)\b[ \t<]", re.MULTILINE)


def language_of(filename: str, content_type: str | None, text: str) -> str:
    """The language of a file: by its base name, else its last extension, else its content type.

    ``filename`` may have directories in front, separated by ``/``. A content type counts without
    its parameters. ``text`` decides only whether a ``.h`` file is C or C++.
    """
    base_name = PurePosixPath(filename).name
    language = _BY_BASE_NAME.get(base_name)
    if language is None:
        _, dot, extension = base_name.rpartition(".")
        if dot:
            language = _BY_EXTENSION.get(extension.lower())
            if language == "c" and extension.lower() == "h" and _CPLUSPLUS.search(text):
                language = "cpp"
    if language is None and content_type is not None:
        language = _BY_CONTENT_TYPE.get(content_type.partition(";")[0].strip().lower())
    return TEXT if language is None else language
