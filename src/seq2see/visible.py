"""Texts of others in a terminal: nothing that moves the cursor or changes colours, nothing without end."""

from rich.cells import cell_len, set_cell_size

# Control characters and line ends as their pictures (␛ for escape). What has no picture, turns the direction of writing
# by force, or is half a surrogate pair (in a name of a file that is not UTF-8) becomes the sign for the unreadable.
_PICTURES = {code: 0x2400 + code for code in range(32)} | {127: 0x2421, 0x2028: 0x240A, 0x2029: 0x240A}
_PICTURES |= dict.fromkeys([*range(0x80, 0xA0), 0x202D, 0x202E, *range(0xD800, 0xE000)], 0xFFFD)


def visible(text: str, longest: int = 400) -> str:
    """At most so many characters, every one of them harmless."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.translate(_PICTURES)


def shortened(text: str, cells: int) -> str:
    """Cut to a width in columns, of which a Hangul syllable takes two."""
    text = visible(text)
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, max(0, cells - 1)).rstrip() + "…" if cells > 0 else ""
