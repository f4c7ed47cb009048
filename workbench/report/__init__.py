"""Reports: a page that opens offline, with tables, pictures and methods as separate files."""
