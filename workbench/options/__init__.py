"""Options, each declared once: a flag of the command line, a field of a form, its check, and a record beside a result.

`option` says what an option is, `shared` holds those that several commands and screens have, and `flags` turns them
into click's parameters. Options of one audit are declared in its folder.
"""
