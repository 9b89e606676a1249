"""Bounded comparison evidence and review patches of a Plastic SCM workspace.

The profile `plastic` offers two tools, `plastic_diff` and `plastic_patch`. They need no database.
They start the client `cm` and a `diff -u` with argument vectors, never a shell, never a window of
the client, and never a second time after a failure.
"""
