"""What the lessons say: a file for each, every text in both languages side by side."""
