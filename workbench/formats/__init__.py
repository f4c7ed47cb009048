"""Reading files into instruments, completely or not at all, and writing instruments to files."""
