"""Declares each option once.

A declaration gives a flag of the command line, a field of a form, its check, and a record beside a
result. `option` defines options, `shared` has those of several commands and screens, and `flags`
converts them to click's parameters. Options of one audit are declared in its folder.
"""
