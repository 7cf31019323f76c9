"""The same sentence gives the same translation alone, in any batch, in any order and on any number of workers.

    python bench/invariance.py RUN --text test.de --engines torch onnx int8

Each engine translates the sentences one by one; then shuffled in batches of each size; then by two processes. Every
translation that is not that of the sentence alone is counted, and the largest difference of its score.
"""

import argparse
import random
from pathlib import Path

import torch

from seq2see.engines import ENGINES, EngineName
from seq2see.search import SearchConfig
from seq2see.session import Request, Translation, load
from seq2see.session.bulk import translate_bulk


def compare(label: str, alone: list[Translation], others: list[Translation]) -> int:
    pairs = list(zip(alone, others, strict=True))
    differing = sum(one.token_ids != other.token_ids for one, other in pairs)
    farthest = max(abs(one.score - other.score) for one, other in pairs if one.token_ids == other.token_ids)
    print(f"{label:<32} {differing:>5} of {len(pairs):,} differ; scores by {farthest:.1e} at most", flush=True)
    return differing


def check(
    run: Path, texts: list[str], engine: EngineName, config: SearchConfig, sizes: list[int], *, shortlist: bool
) -> int:
    translator = load(run, engine=engine, shortlist=shortlist)
    alone = [next(iter(translator.translate_all([text], config))) for text in texts]
    differing = 0
    for size in sizes:
        order = random.Random(size).sample(range(len(texts)), len(texts))
        together: dict[int, Translation] = {}
        for first in range(0, len(order), size):
            places = order[first : first + size]
            batch = translator.translate_all([texts[place] for place in places], config)
            together |= dict(zip(places, batch, strict=True))
        differing += compare(f"{engine}, batches of {size}", alone, [together[place] for place in range(len(texts))])
    requests = (Request(text, number=number) for number, text in enumerate(texts))
    bulk = list(translate_bulk([run], requests, config, workers=2, engine=engine, shortlist=shortlist))
    return differing + compare(f"{engine}, two workers", alone, bulk)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--engines", nargs="*", default=["torch", "onnx", "int8"], choices=ENGINES)
    parser.add_argument("--sizes", nargs="*", type=int, default=[2, 3, 5, 8, 16, 32, 64])
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--shortlist", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = SearchConfig(beam=options.beam, length_penalty="gnmt" if options.beam > 1 else "none")
    texts = options.text.read_text().splitlines()[: options.sentences]
    differing = sum(
        check(options.run, texts, engine, config, options.sizes, shortlist=options.shortlist)
        for engine in options.engines
    )
    raise SystemExit(f"{differing} translations differ" if differing else 0)


if __name__ == "__main__":
    main()
