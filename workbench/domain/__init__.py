"""The words of the field as types: values without side effects, from the standard library."""
