"""Long work in separate processes, which outlive the terminal that started them."""
