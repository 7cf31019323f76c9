"""`seq2see translate`."""

from seq2see.cli.translate.command import translate

__all__ = ["translate"]
