"""Documents made of figures: one page that opens anywhere, with tables, pictures and methods as files beside it."""
