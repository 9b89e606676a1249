"""One module per language: `find(text)` gives what is in a text and whether it has syntax errors.

`text` has no U+FEFF at its start; the offsets of a `Found` are code points into it.
"""
