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


def filled(text: str, run: Path) -> str:
    return Template(text).safe_substitute(name=run.resolve().name)
