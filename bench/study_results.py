"""The studies of docs/results.md, from their committed results (studies/NAME/results.json).

    python bench/study_results.py            # writes the tables between the marks of docs/results.md anew
    python bench/study_results.py --check    # exit code 1 if they are not what the results say

A study has a place there once a line `<!-- study NAME -->` and a line `<!-- end of NAME -->` stand in the document, and
once its results are committed: copy results.json and table.md of its --out folder to studies/NAME.
"""

import argparse
import re
import sys
from pathlib import Path

from seq2see.report.numbers import UNDEFINED, difference_text, interval_text, p_text, score_text
from seq2see.report.page import ReportTable
from seq2see.study.results import read_results
from seq2see.study.tables.statistics import ConditionResult, ConditionScore, conditions_in
from seq2see.study.tables.table import figure, length_tables, markdown_lines, state_text

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "results.md"
STUDIES = ROOT / "studies"
_BLOCK = re.compile(r"(<!-- study (?P<name>[\w-]+) -->\n)(?P<table>.*?)(<!-- end of (?P=name) -->)", re.DOTALL)


def table(results: Path) -> str:
    """A row for each condition on each set, and quality by length on the last: shorter than table.md, which has all."""
    study_results = read_results(results)
    conditions = conditions_in(study_results)
    sets = list(dict.fromkeys(name for condition in conditions for name in condition.sets))
    labels = [scored.score.label for scored in conditions[0].sets[sets[0]].scores]
    head = ["", "set", "seeds", "parameters", "updates", f"**{labels[0]}**", "95 %", "to its baseline, p", *labels[1:]]
    head += ["CPU min", "MB", "pieces/s"]
    lines = [head, ["---", "---", *["---:"] * (len(head) - 2)]]
    lines += [_row(condition, name) for name in sets for condition in conditions if name in condition.sets]
    rows = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    lengths = "".join(map(_length_table, length_tables(conditions, sets[-1])))
    return f"{state_text(study_results)}\n\n{rows}{lengths}"


def _length_table(table: ReportTable) -> str:
    return f"\n{table.title}\n\n" + "".join(f"{line}\n" for line in markdown_lines(table))


def _row(condition: ConditionResult, name: str) -> list[str]:
    first, *others = condition.sets[name].scores
    model = [str(condition.seeds), f"{condition.parameters:,}", f"{condition.updates:,.0f}"]
    scores = [f"**{score_text(first.score.value)}**", interval_text(first.score.interval), _against(condition, first)]
    scores += [score_text(other.score.value) for other in others]
    minutes, memory, decoding = (condition.clock(name) for name in ("minutes", "memory", "decoding"))
    return [f"`{condition.name}`", name, *model, *scores, figure(minutes, 1), figure(memory), figure(decoding)]


def _against(condition: ConditionResult, scored: ConditionScore) -> str:
    if scored.paired is None:
        return "baseline" if condition.baseline == condition.name else UNDEFINED
    ps = [p for p in (scored.paired.p_bootstrap, scored.paired.p_randomisation) if p is not None]
    return f"{difference_text(scored.paired.difference)}, {p_text(max(ps, default=None))}"


def written(text: str, studies: Path = STUDIES) -> str:
    """The document with every block as its results say."""
    return _BLOCK.sub(lambda block: f"{block[1]}{table(studies / block['name'] / 'results.json')}{block[4]}", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether something differs")
    options = parser.parse_args()
    text = DOCUMENT.read_text(encoding="utf-8")
    new = written(text)
    if options.check and new != text:
        sys.exit("docs/results.md does not say what studies/*/results.json do: python bench/study_results.py")
    if not options.check:
        DOCUMENT.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
