"""Cells are trained and scored, each in a process of its own."""
