"""The queue of an auditor: ranked items with their reasons, and the ruling on each."""
