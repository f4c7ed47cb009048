"""Files in, instruments out: whole or not at all."""
