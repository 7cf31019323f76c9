"""A run goes out: one folder or file, which appears when it is whole."""

from pathlib import Path

from seq2see import atomic
from seq2see.doors.names import ExportFormat
from seq2see.engines.ct2_model import ComputeType
from seq2see.errors import ConfigError
from seq2see.runs.folder import Run, load_run


def export_run(
    run: Path,
    to: ExportFormat,
    out: Path,
    *,
    compute_type: ComputeType = "float32",
    languages: tuple[str, str] | None = None,
) -> None:
    """`run` as what another program reads, at `out`. ConfigError, with the setting, for what cannot go there.

    languages   of argos: codes of source and target, if the run does not know them
    """
    if out.exists() and not (to != "argos" and out.is_dir() and not any(out.iterdir())):
        raise ConfigError(
            f"{out}: is there already; name {'a file' if to == 'argos' else 'a folder'} that is to be made"
        )
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"{out}: there is no folder {out.parent} to make it in")
    loaded = load_run(run)
    if to == "argos":
        _write_package(loaded, out, compute_type, languages)
        return
    with atomic.making_folder(out) as folder:
        match to:
            case "ctranslate2":
                from seq2see.doors.ct2_door import write_ctranslate2

                write_ctranslate2(loaded, folder, compute_type)
            case "hf":
                from seq2see.doors.marian_out import write_marian

                write_marian(loaded, folder)
            case "onnx":
                from seq2see.doors.onnx_door import write_onnx

                write_onnx(loaded, folder)


def _write_package(run: Run, out: Path, compute_type: ComputeType, languages: tuple[str, str] | None) -> None:
    import tempfile

    from seq2see.doors.argos import write_argos

    with tempfile.TemporaryDirectory() as made, atomic.replacing(out) as temporary:
        write_argos(run, Path(made), compute_type, languages)
        temporary.write_bytes((Path(made) / "package.argosmodel").read_bytes())
