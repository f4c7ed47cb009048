"""Arrays and counts in, estimates out. Nothing here knows an audit, a model or a store."""
