"""A run as an Argos Translate package, which LibreTranslate installs as well: a CTranslate2 model and a tokenizer.

    ko_en/metadata.json  ko_en/model/  ko_en/sentencepiece.model  ko_en/README.md

Its tokenizer cuts the source; what the model says is joined at `▁`, so the target may be cut in any way but jamo.
"""

import json
import re
import zipfile
from pathlib import Path

from seq2see import __version__
from seq2see.doors.readme import ARGOS_README, filled
from seq2see.doors.spm import write_spm
from seq2see.doors.spm_out import spm_obstacle, spm_of
from seq2see.engines.ct2_engine import places_of
from seq2see.engines.ct2_model import ComputeType, check_convertible, require_ctranslate2, save_model, tokens_of
from seq2see.errors import ConfigError
from seq2see.runs.folder import Run

_CODE = re.compile("[a-z]{2,3}")


def write_argos(run: Run, folder: Path, compute_type: ComputeType, languages: tuple[str, str] | None) -> None:
    """Writes package.argosmodel into a folder. ConfigError, with the setting, for what cannot be one."""
    require_ctranslate2()
    check_convertible(run.model, str(run.path))
    source, target = run.tokenizers
    setting = spm_obstacle(source) or ("tokenizer.target.jamo = true" if target.config.in_jamo else None)
    if setting is not None:
        raise ConfigError(f"{run.path}: cannot go to Argos Translate, which does not know {setting}")
    codes = _languages(run, languages)
    place = folder / "content" / "_".join(codes)
    (place / "model").mkdir(parents=True)
    tokens = tokens_of(source), tokens_of(target)
    save_model(run.model, tokens, place / "model", places=places_of(run), compute_type=compute_type)
    (place / "sentencepiece.model").write_bytes(write_spm(spm_of(source)))
    (place / "metadata.json").write_text(_metadata(codes), encoding="utf-8")
    (place / "README.md").write_text(filled(ARGOS_README, run.path), encoding="utf-8")
    with zipfile.ZipFile(folder / "package.argosmodel", "w", zipfile.ZIP_DEFLATED) as package:
        for file in sorted(place.rglob("*")):
            package.write(file, file.relative_to(folder / "content"))


def _languages(run: Run, languages: tuple[str, str] | None) -> tuple[str, str]:
    data = run.config.data
    source, target = languages or (data.source_language or "", data.target_language or "")
    if not (_CODE.fullmatch(source) and _CODE.fullmatch(target)):
        raise ConfigError(f"{run.path}: a package has to name its languages; add --languages, such as ko-en")
    return source, target


def _metadata(codes: tuple[str, str]) -> str:
    from babel import Locale

    names = [Locale("en").languages.get(code, code) for code in codes]
    described = {
        "package_version": __version__,
        "argos_version": "1.9",
        "from_code": codes[0],
        "from_name": names[0],
        "to_code": codes[1],
        "to_name": names[1],
    }
    return json.dumps(described, ensure_ascii=False, indent=1) + "\n"
