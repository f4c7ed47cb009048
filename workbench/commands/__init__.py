"""Commands: what a person or a program asks the workbench to do, each written once.

A command is a dataclass, and its fields are its options. The verb of the command line, the form of
the terminal, the method of the Python interface, and a job like an earlier one are made of it.

`command` has the base class; every other module has the commands of one family.
"""
