"""The names of the files of help pages."""

ENDING = ".md"
AUDITS_PAGE = "help.md"
"in the folder of an audit: the page that has the audit's name"
