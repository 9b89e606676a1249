"""The structural engine: which named scopes a text consists of, for editing one of them.

`engine.Engine` is the server's side: it keeps the work in a child process and imports no grammar.
"""
