"""Texts that are made to overwhelm a parser, of any size."""

import random
from collections.abc import Callable

_OPENERS = (
    "(",
    "[",
    "{",
    "<",
    '"',
    "'",
    "`",
    "/*",
    "<!--",
    "{{",
    "$(",
    "${",
    "#{",
    "<<EOF\n",
    '"""',
)
_REPEATED = (
    "a<", "a.", "a,", "a=", "a?", "a:", "!", "-", "+a", "*", "&", "\\", "#", "//", "--", ";",
    "@a ", "a[", "a(", "f(){", "if ", "if(a)", "else ", "=>", "->", "::", "x=>", "class A{",
    "def a(", "<a ", "<div>", "<a><b>", "</a>", "- ", "> ", "* ", "| ", "|a", "a: ", "? ",
    "&a *a ", "[a]: ", "[a](", "![", "**", "_", "~", "```\n", "---\n", "===\n", "\n", " ", "\t",
    "\n\n- ", "\n> ", "\na:\n", "\r", "\x00", "\x0c", "\ufeff", "\U0001f642", "e\u0301", "\u202e",
    "\u2028", "0", "1e", "0x", "begin ", "end ", "case ", "create table a(", "select(", "$a$",
    "$$", "E'", "[[a]]\n", "[a]\n", "a=1\n", "a = {", "a={a=", '{"a":', "[{", "a.b.c=1\n",
    "<?php ", "?>", "<%", "#if 0\n", "#define a\\\n", "template<", "operator<", "async ",
    "await ", "yield ", "lambda:", "not ", "r#\"", "'a", "struct S{", "impl A for ", "fn a(",
    "where ", "|a|", "package a\n", "import a\n", "import(", "func(", "a := ", "chan ", "@media{",
    "a{b:", "a,b ", "/**/",
)  # fmt: skip
_REPEATED_IN = {
    "bash": ("a() { ", "a=$(", "<<A <<B\n", "case a in ", "declare a=1 ", "a=1 b=2 ", "${a:-"),
    "c": ("int a, ", "int (*", "struct A { ", "a(*)(", "#if a\n", "typedef a b; ", "int a(int a){"),
    "cpp": ("a::", "template <", "class A { ", "operator ", "int a, ", "[] { ", "A<A::", "&&a "),
    "csharp": ("class A { ", "[A] ", "int A.B.", "namespace A { ", "int a, b; ", 'a = $"{'),
    "css": ("a { ", "@a ", "@a { ", "@media a { ", "--a: ", "a, ", ":is(", "@import 'a'; "),
    "go": ("type a struct { ", "var a, ", "const ( a\n", "func (a *", "interface { ", "a[a]."),
    "html": ('<p id="a">', "<p id=", "<script>", "<p a ", "<section>", "<!-- ", "<svg><", "&a;"),
    "java": ("class A { ", "@A(", "int a, b; ", "enum A { ", "new A() { ", "import a.", "A<B>."),
    "php": ("<?php ?>", "class A { ", "namespace a { ", "#[A] ", "$a = ", "use a; ", "<<<A\n"),
    "ruby": ("def a\n", "private ", "<<~A\n", "A = ", "A::", "class A\n", "a do ", '"#{', "%w["),
    "rust": ("#[a] ", "impl A for &", "mod a { ", "use a; ", "A<", "r#", "/*", "fn a() { ", "a!{"),
}
_WORDS = (
    *"()[]{}<>\"'`;:,.=+-*/\\|&^%$#@!?~\n\t ", "a", "class ", "def ", "function ", "if ", "end ",
    "/*", "*/", "<!--", "-->", "${", "=>", "::", "0", "é", "🙂",
)  # fmt: skip


def texts(size: int, language: str) -> dict[str, str]:
    """Hostile texts of about `size` bytes by what they are, some made for the language."""
    made: dict[str, str] = {}
    for opener in _OPENERS:
        made[f"open {opener!r}"] = opener * (size // len(opener.encode()))
    for left, right in ("()", "[]", "{}", "<>"):
        for depth in (300, 10_000):
            depth = min(depth, size // 2)
            made[f"{depth} nested {left}{right}"] = left * depth + right * depth
    for repeated in (*_REPEATED, *_REPEATED_IN.get(language, ())):
        made[f"repeated {repeated!r}"] = repeated * (size // len(repeated.encode()))
    made["indented ever more"] = _lines(size, lambda level: " " * level + "a:\n")
    made["lists ever deeper"] = _lines(size, lambda level: " " * level + "- a\n")
    made["one long name"] = "a" * size
    made["one long string"] = '"' + "a" * size
    for seed in range(8):
        chosen = random.Random(seed)
        made[f"random {seed}"] = "".join(chosen.choices(_WORDS, k=size // 4))
    if language == "php":
        made.update({f"after a tag: {name}": f"<?php {text}" for name, text in made.items()})
    return made


def nested(language: str, depth: int) -> list[str]:
    """Brackets nested `depth` deep, as they may stand in a text of the language."""
    before = {"css": "a{b:", "ini": "a=", "sql": "select ", "toml": "a = ", "php": "<?php $a = "}
    start = before.get(language, "")
    return [start + left * depth + right * depth for left, right in ("()", "[]", "{}")]


def _lines(size: int, line: Callable[[int], str]) -> str:
    lines: list[str] = []
    length = level = 0
    while length < size:
        lines.append(line(level))
        length += len(lines[-1])
        level += 1
    return "".join(lines)
