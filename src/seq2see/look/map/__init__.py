"""The map of attention: its sides, measures, alignment and files."""
