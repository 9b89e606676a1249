"""Which language a file is in."""

import pytest

from patchdiff.structure.languages import LANGUAGES, language_of


@pytest.mark.parametrize(
    ("filename", "content_type", "language"),
    [
        ("a.py", None, "python"),
        ("dir.js/a.PY", None, "python"),
        ("archive.tar.rs", None, "rust"),
        ("x.mts", None, "typescript"),
        ("x.tsx", None, "tsx"),
        ("x.jsx", None, "javascript"),
        (".env", None, "ini"),
        ("deep/.gitconfig", None, "ini"),
        ("Gemfile", None, "ruby"),
        ("Cargo.lock", None, "toml"),
        (".bashrc", None, "bash"),
        ("gemfile", None, "text"),
        ("notes.txt", None, "text"),
        ("README", None, "text"),
        ("", None, "text"),
        ("py", None, "text"),
        # a content type counts when the name says nothing
        ("notes", "text/markdown; charset=utf-8", "markdown"),
        ("notes", " Text/X-Python ", "python"),
        ("notes", "json", "json"),
        ("notes.txt", "application/json", "json"),
        ("a.py", "application/json", "python"),
        ("notes", "text/plain", "text"),
        ("notes", "", "text"),
    ],
)
def test_the_language_of_a_file(filename: str, content_type: str | None, language: str) -> None:
    assert language_of(filename, content_type, "") == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("int f(void);\n", "c"),
        ("struct S { int class_; };\n", "c"),
        ("#pragma once\nclass A {};\n", "cpp"),
        ("namespace a {\n}\n", "cpp"),
        ("  template<class T> T f();\n", "cpp"),
        ("/* a class of its own */\nint template_;\n", "c"),
    ],
)
def test_a_header_is_in_the_language_of_its_text(text: str, language: str) -> None:
    assert language_of("a.h", None, text) == language
    assert language_of("a.c", None, text) == "c"


def test_no_extension_or_name_is_claimed_twice() -> None:
    for attribute in ("extensions", "base_names", "content_types"):
        names = [name for language in LANGUAGES.values() for name in getattr(language, attribute)]
        assert len(names) == len(set(names))
    assert all(
        name not in other.content_types for name in LANGUAGES for other in LANGUAGES.values()
    )
