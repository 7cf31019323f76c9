"""Options that several verbs share, each described once."""

from pathlib import Path
from typing import Annotated

import typer

# ----- what is read

RunFolder = Annotated[
    Path, typer.Argument(help="The run folder that `seq2see train` made, such as runs/ko-en.", show_default=False)
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Of files that do not state it themselves, such as cp949, utf-16, shift_jis, gb18030 or windows-1252; "
        "utf-8-replace reads broken bytes as U+FFFD.  [default: utf-8]",
        show_default=False,
    ),
]
Limit = Annotated[int | None, typer.Option(help="Only the first pairs.", show_default=False)]
SourceLanguage = Annotated[
    str | None, typer.Option(help="Side of a TMX, XLIFF or JSONL.  [default: the run's]", show_default=False)
]
TargetLanguage = Annotated[
    str | None, typer.Option(help="Side of a TMX, XLIFF or JSONL.  [default: the run's]", show_default=False)
]

# ----- how it is translated

Ensemble = Annotated[
    list[str] | None,
    typer.Option("--with", help="Further runs: all together speak as one ensemble.", show_default=False),
]
Beam = Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy, and fastest.", min=1)]
Sample = Annotated[bool, typer.Option("--sample", help="Draw words by their probability instead of searching.")]
Search = Annotated[
    list[str] | None,
    typer.Option(
        "--search",
        metavar="KEY=VALUE",
        help="A rarer setting of the search, such as max_length=80; once for each. length_penalty (none, gnmt, "
        "average), alpha (of gnmt: 0 favours the short, 1 hardly), coverage (what a source word that was not looked at "
        "costs), min_length and max_length (pieces), no_repeat_ngram (no run of this many pieces occurs twice), groups "
        "and diversity (diverse beam); of sampling: temperature, top_k, top_p, seed.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Processes.  [default: one for each core for a large file, else 1]", min=1, show_default=False),
]

# ----- what if

Ablate = Annotated[
    list[str] | None,
    typer.Option(help="What if: a head switched off, such as cross:3.1 (layer 3, head 1).", show_default=False),
]
Force = Annotated[
    list[str] | None,
    typer.Option(help="What if: at step 2 look there, such as 2:학생=1.0.", show_default=False),
]
Scale = Annotated[
    list[str] | None,
    typer.Option(help="What if: look less or more at a word, such as 학생=0.1.", show_default=False),
]
Posterior = Annotated[
    bool,
    typer.Option(
        "--posterior",
        help="Weigh each look by how likely the word would have been, had the model looked there alone; slower.",
    ),
]

# ----- how it is scored

Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        help="bleu, chrf, ter, exact, wer, cer, per (phones); several with commas. The first is shown by length.",
        show_default=False,
    ),
]
Edges = Annotated[
    str | None,
    typer.Option(
        help="The last length of each bucket, such as 8,16,24.  [default: by fives, wider above 30]", show_default=False
    ),
]
LengthOf = Annotated[str, typer.Option(help="Whose words are counted: source or reference.")]
Tokenizer = Annotated[
    str | None,
    typer.Option(
        "--tokenize",
        help="Of BLEU: 13a, char, intl, zh, ja-mecab, ko-mecab or none.  [default: 13a; char for a language without "
        "spaces, such as Japanese or Chinese]",
        show_default=False,
    ),
]
Resamples = Annotated[
    int | None, typer.Option(help="Of the bootstrap behind every interval.  [default: 1000]", show_default=False)
]
BootstrapSeed = Annotated[
    int | None, typer.Option("--seed", help="Of the bootstrap.  [default: 12345, sacreBLEU's own]", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Everything as one JSON object on stdout.")]
