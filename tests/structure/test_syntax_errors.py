"""Which symbols of a text with syntax errors are kept, and which of them are flagged."""

import pytest

from patchdiff.structure.extract import extract

# language: text, and the kind, name and flag of every symbol; those of broken names are not there
BROKEN: dict[str, tuple[str, list[tuple[str, str, bool]]]] = {
    "go": (
        'package a\nvar s = "🙂"\nfunc damaged() { x := = 3 }\nfunc (s T) () {}\ntype Later int\n',
        [("variable", "s", False), ("function", "damaged", True), ("type", "Later", False)],
    ),
    "rust": (
        "// 🙂\nfn good() {}\nfn damaged() { let = 3; }\nstruct { x: u8 }\n#[a]\nfn later() {}\n",
        [("function", "good", False), ("function", "damaged", True), ("function", "later", False)],
    ),
    "java": (
        (
            "class A { // 🙂\n  int good;\n  void damaged() { int = 3; }\n  void (int x) {}\n"
            "  void later() {}\n}\n"
        ),
        [
            ("class", "A", True),
            ("variable", "good", False),
            ("method", "damaged", True),
            ("method", "later", False),
        ],
    ),
    "c": (
        (
            "/* 🙂 */\nint good(void) { return 1; }\nint damaged(void) { int = 3; }\nint = 4;\n"
            "int later;\n"
        ),
        [("function", "good", False), ("function", "damaged", True), ("variable", "later", False)],
    ),
    "cpp": (
        (
            "// 🙂\nclass A {\n int good();\n void damaged() { int = 3; }\n void later() {}\n};\n"
            "class : B { void kept() {} };\n"
        ),
        [
            ("class", "A", True),
            ("signature", "good", False),
            ("method", "damaged", True),
            ("method", "later", False),
            ("function", "kept", False),
        ],
    ),
    "csharp": (
        (
            "class A { // 🙂\n  int Good;\n  void Damaged() { int = 3; }\n  void Later() {}\n}\n"
            "class { void Kept() {} }\n"
        ),
        [
            ("class", "A", True),
            ("variable", "Good", False),
            ("method", "Damaged", True),
            ("method", "Later", False),
            ("function", "Kept", False),
        ],
    ),
    "ruby": (
        "# 🙂\ndef good; end\ndef damaged\n  x = = 3\nend\nclass lower; end\nclass Last; end\n",
        [("function", "good", False), ("function", "damaged", True), ("class", "Last", False)],
    ),
    "php": (
        "<?php #🙂\nfunction good() {}\nfunction damaged() { $x = ; }\nclass { }\nclass Later {}\n",
        [("function", "good", False), ("function", "damaged", True), ("class", "Later", False)],
    ),
    "bash": (
        "# 🙂\ngood() { :; }\ndamaged() { echo ); }\nlater=1\nlost() { case a in b) ;; c }; }\n",
        [("function", "good", False), ("function", "damaged", True), ("variable", "later", False)],
    ),
    "html": (
        (
            '<main id="good">🙂</main>\n<div id="damaged"><b </div>\n</span>\n<p id="later">x</p>\n'
            '<p id="cut'
        ),
        [("element", "good", False), ("element", "damaged", True), ("element", "later", False)],
    ),
    "css": (
        "/* 🙂 */\n.good { color: red }\n.damaged { color: ; : x }\n} { margin: 1px }\n.later {}\n",
        [("rule", ".good", False), ("rule", ".damaged", True), ("rule", ".later", False)],
    ),
}


@pytest.mark.req("SCOPE-053")
@pytest.mark.parametrize("language", BROKEN)
def test_symbols_with_a_readable_name_are_kept(language: str) -> None:
    text, expected = BROKEN[language]
    structure = extract(language, text)
    assert structure.has_errors
    assert [(one.kind, one.name, one.has_error) for one in structure.symbols] == expected
