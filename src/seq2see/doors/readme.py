"""What lies beside an exported model: how to run it without seq2see, or with its tokenizers alone."""

from pathlib import Path
from string import Template

CT2_README = """# $name, exported by seq2see for CTranslate2

`model.bin`, `config.json` and the vocabularies are a CTranslate2 model; `tokenizer.source.json` and
`tokenizer.target.json` are the tokenizers of the run. The end of a source is put in by the model itself.

```python
import ctranslate2
from seq2see.text import Tokenizer

source, target = Tokenizer.load("tokenizer.source.json"), Tokenizer.load("tokenizer.target.json")
names, ids = source.written_pieces, {piece: index for index, piece in enumerate(target.written_pieces)}
translator = ctranslate2.Translator(".", device="cpu")
for line in ["나는 학생입니다"]:
    pieces = [names[index] for index in source.encode(line).ids]
    (answer,) = translator.translate_batch([pieces], beam_size=5, max_decoding_length=2 * len(pieces) + 12)
    print(target.decode(ids[piece] for piece in answer.hypotheses[0]))
```
"""

HF_README = """# $name, exported by seq2see for transformers

```python
from transformers import MarianMTModel, MarianTokenizer

tokenizer, model = MarianTokenizer.from_pretrained("."), MarianMTModel.from_pretrained(".")
inputs = tokenizer(["나는 학생입니다"], return_tensors="pt", padding=True)
print(tokenizer.batch_decode(model.generate(**inputs), skip_special_tokens=True))
```
"""

ARGOS_README = """# $name, exported by seq2see for Argos Translate

`argospm install` and LibreTranslate take the package; the model inside is a CTranslate2 folder.
"""

ONNX_README = """# $name, exported by seq2see as ONNX graphs

`encode.onnx`

- in: `source` (B, S) int64, each row ending in `eos`; `source_mask` (B, 1, S) bool, False on padding
- out: `memory.0` and so on; the `state.N` that do not begin empty

`step.onnx`

- in: `token` (B,) int64, `bos` at first; every `memory.N`; every `state.N`
- out: `logits` (B, V); `next.state.0` and so on, which are the `state.N` of the next step

B is the batch, S the length of the source, V the target vocabulary; B, S and the lengths of states are free.
`model.json` has the ids of the special pieces, and for each `state.N` null if `encode.onnx` gives it, else the shape
that it begins with: -1 is B, and there is nothing in it. `source_vocabulary.json` and `target_vocabulary.json` have the
pieces in the order of their ids, `▁` for a space; `source.spm`, where it is there, cuts texts into them.
`decode.py` decodes greedily with NumPy and ONNX Runtime; it takes a text where `source.spm` is there, else pieces:

```sh
python decode.py ▁piece ▁piece piece
```
"""

ONNX_EXAMPLE = '''"""Greedy decoding by NumPy and ONNX Runtime: python decode.py PIECE ...; with source.spm, a text."""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).parent


def read(name):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def cut(text):
    """The pieces of a text, by SentencePiece where it can; else pieces are what white space separates."""
    if not (HERE / "source.spm").exists():
        return text.split()
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(HERE / "source.spm")).encode(text, out_type=str)


def main(pieces):
    model, sources, targets = read("model.json"), read("source_vocabulary.json"), read("target_vocabulary.json")
    encoder, stepper = (onnxruntime.InferenceSession(HERE / name) for name in ("encode.onnx", "step.onnx"))
    ids = {piece: index for index, piece in enumerate(sources)}
    source = np.array([[*(ids.get(piece, model["unk"]) for piece in pieces), model["eos"]]])
    inputs = {"source": source, "source_mask": np.ones((1, 1, source.shape[1]), dtype=bool)}
    names = [end.name for end in encoder.get_outputs()]
    known = dict(zip(names, encoder.run(None, inputs)))
    for number, shape in enumerate(model["state"]):
        if shape is not None:
            known[f"state.{number}"] = np.zeros([1 if size < 0 else size for size in shape], dtype=np.float32)
    wanted = {end.name for end in stepper.get_inputs()}
    token, said = model["bos"], []
    for _ in range(2 * source.shape[1] + 10):
        known["token"] = np.array([token])
        logits, *states = stepper.run(None, {name: value for name, value in known.items() if name in wanted})
        known.update({f"state.{number}": state for number, state in enumerate(states)})
        logits[0, [model["pad"], model["bos"]]] = -np.inf
        token = int(logits[0].argmax())
        if token == model["eos"]:
            break
        said.append(targets[token])
    return said


if __name__ == "__main__":
    print(" ".join(main(cut(" ".join(sys.argv[1:])))))
'''


def filled(text: str, run: Path) -> str:
    return Template(text).safe_substitute(name=run.resolve().name)
