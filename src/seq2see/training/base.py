"""The run that another one starts from (--from): remembered in config.json, so that it can be started from again."""

from pathlib import Path

from seq2see.errors import RunError
from seq2see.runs import folder
from seq2see.runs.config import BaseConfig
from seq2see.runs.folder import Run


def describe_base(path: Path) -> BaseConfig:
    """A finished run as it is now."""
    folder.check_manifest(path)
    return BaseConfig(run=str(path.absolute()), sha256=folder.run_digest(path))


def load_base(base: BaseConfig) -> Run:
    """The same run again; an error if it is gone or is not what it was."""
    path = Path(base.run)
    if not path.exists():
        raise RunError(
            f"{path}: is gone, and this run starts from its weights (--from) as long as it has no checkpoint; put it "
            "back, or start a new run"
        )
    run = folder.load_run(path)
    if folder.run_digest(path) != base.sha256:
        raise RunError(
            f"{path}: has been trained further or replaced since this run was started from its weights (--from), and "
            "there is no checkpoint to go on from; put the old one back, or start a new run"
        )
    return run
