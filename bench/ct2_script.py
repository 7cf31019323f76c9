"""A file to a file by CTranslate2 alone, as somebody writes it who has an exported folder; beside `seq2see translate`.

seq2see export RUN --to ctranslate2 -o DIR
python bench/ct2_script.py DIR test.de out.en --beam 5 --numbers int8
"""

import argparse
from pathlib import Path

import ctranslate2  # type: ignore[import-untyped]

from seq2see.engines.ct2_model import tokens_of
from seq2see.text import Tokenizer

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path)
parser.add_argument("source", type=Path)
parser.add_argument("out", type=Path)
parser.add_argument("--beam", type=int, default=5)
parser.add_argument("--numbers", default="float32", choices=["float32", "int8"])
parser.add_argument("--threads", type=int, default=1, help="batches at once")
options = parser.parse_args()

source, target = (Tokenizer.load(options.folder / f"tokenizer.{side}.json") for side in ("source", "target"))
pieces, ids = tokens_of(source), {token: index for index, token in enumerate(tokens_of(target))}
translator = ctranslate2.Translator(
    str(options.folder), compute_type=options.numbers, inter_threads=options.threads, intra_threads=1
)
texts = [[pieces[index] for index in line] for line in source.ids_batch(options.source.read_text().splitlines())]
answers = translator.translate_batch(texts, beam_size=options.beam, max_batch_size=64)
lines = (target.decode([ids[token] for token in answer.hypotheses[0]]) for answer in answers)
options.out.write_text("".join(f"{line}\n" for line in lines))
