"""What models were asked and answered, and how answers were read."""
