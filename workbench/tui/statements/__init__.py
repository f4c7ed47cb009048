"""The screens that write, vary, check, import and export statements and questions."""
