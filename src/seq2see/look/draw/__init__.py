"""Maps drawn: terminal, picture, page."""
