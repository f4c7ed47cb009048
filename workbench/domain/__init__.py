"""Values: what an audit is about. Standard library only, no side effects."""
