"""The comparison of two or more runs, in the same way for every audit."""
