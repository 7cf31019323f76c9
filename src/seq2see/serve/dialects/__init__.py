"""Protocols of other programs: LibreTranslate's, Apertium's, OPUS-CAT's. Each is thin around `texts`."""
