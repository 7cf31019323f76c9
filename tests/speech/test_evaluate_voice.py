"""`seq2see evaluate` on a voice: the same verb, figures beside the teacher's."""

import json
from pathlib import Path

from needed import needs_pocketsphinx, needs_pyworld
from typer.testing import CliRunner

from seq2see.cli import app
from seq2see.errors import ConfigError


@needs_pyworld
@needs_pocketsphinx
def test_a_voice_is_evaluated_on_what_its_corpus_holds_out(voice_run: Path, corpus: Path, tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["evaluate", str(voice_run), "--json", "--output", str(tmp_path / "said")])
    assert ended.exit_code == 0, ended.output
    told = json.loads(ended.stdout)
    everything = told["figures"]["all"]
    assert set(everything) == {"teacher", "round trip", "voice"}
    assert 0 <= everything["teacher"]["words_understood"] <= 1  # of tones, in which a grammar hears some word
    assert 0 <= everything["voice"]["focus"] <= 1
    assert everything["voice"]["utterances"] == len(list((tmp_path / "said").glob("*.wav"))) > 0
    assert told["test"] == str(corpus)
    assert told["style_read_out"] == []  # nothing is known of these recordings


@needs_pyworld
@needs_pocketsphinx
def test_the_table_has_a_column_for_each_source_of_sound(voice_run: Path) -> None:
    ended = CliRunner().invoke(app, ["evaluate", str(voice_run), "--limit", "1"])
    assert ended.exit_code == 0, ended.output
    head = ended.stdout.splitlines()[0]
    assert head.split()[-4:] == ["teacher", "round", "trip", "voice"]


def test_two_corpora_are_refused(voice_run: Path) -> None:
    ended = CliRunner().invoke(app, ["evaluate", str(voice_run), "a.tsv", "b.tsv"])
    assert isinstance(ended.exception, ConfigError)
