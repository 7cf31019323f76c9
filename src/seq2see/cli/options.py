"""Options that several verbs share."""

from typing import Annotated

import typer

Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Of files that do not state it themselves, such as cp949, utf-16, shift_jis, gb18030 or windows-1252; "
        "utf-8-replace reads broken bytes as U+FFFD.  [default: utf-8]",
        show_default=False,
    ),
]
