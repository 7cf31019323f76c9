"""A run goes out: one folder or file, which appears when it is whole."""

from pathlib import Path

from seq2see import atomic
from seq2see.doors.names import ExportFormat
from seq2see.engines.ct2_model import ComputeType
from seq2see.errors import ConfigError
from seq2see.runs.folder import load_run


def export_run(run: Path, to: ExportFormat, out: Path, *, compute_type: ComputeType = "float32") -> None:
    """`run` as what another program reads, at `out`. ConfigError, with the setting, for what cannot go there."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigError(f"{out}: is there already; name a folder that is to be made")
    loaded = load_run(run)
    with atomic.making_folder(out) as folder:
        match to:
            case "ctranslate2":
                from seq2see.doors.ct2_door import write_ctranslate2

                write_ctranslate2(loaded, folder, compute_type)
            case "hf":
                from seq2see.doors.marian_out import write_marian

                write_marian(loaded, folder)
            case _:
                raise ConfigError(f"--to {to}: not there yet")
