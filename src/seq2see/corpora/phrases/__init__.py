"""phrases: Korean and English from one grammar, with its alignment."""
