"""A model from config.json and model.safetensors, which may come from anybody: first compared, then filled.

The model is built without memory (torch's `meta` device), its tensors are compared with the header of the file by name,
shape and type, and only what fits is read. Nothing random is drawn: the caller's generator stays where it is.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from seq2see import atomic
from seq2see.errors import RunError

Net = TypeVar("Net", bound=nn.Module)
Numbers = list[tuple[str, int]]  # the whole numbers of the settings, each with its full name

_LARGEST_HEADER = 16 * 2**20  # bytes; a tensor takes about a hundred
_SHOWN = 3  # names of each kind in a message
_SMALL = 2**16  # a size that is harmless whatever the file holds
# Settings that are no size of a weight, so that no weight bounds them; their own types do.
_WITHOUT_WEIGHTS = frozenset({"max_length", "window", "percent", "extra", "dilations", "crop", "lessons", "rate"})
_REPEATS = ("layers", "encoder_layers", "sets", "bank", "highways")
_TYPES = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL"}


class HeaderEntry(NamedTuple):
    """A tensor as the header describes it."""

    type: str
    shape: tuple[int, ...]


def make_unfilled(path: Path, make: Callable[[], Net], settings: Mapping[str, Any]) -> Net:
    """`make()` without memory, if the file at `path` has the weights for it; `settings` are what it is made from."""
    kept = read_header(path)
    numbers = list(_numbers(settings, "model"))
    _check_sizes(path, kept, numbers)
    with torch.device("meta"), _Unfilled(), _no_more_than(path, kept, numbers):
        model = make()
    _compare(path, kept, model.state_dict(), numbers)
    return model


def fill(path: Path, model: Net) -> Net:
    """The weights into what `make_unfilled` has found to fit; ready to be used, not to be trained."""
    model.load_state_dict(_read(path), assign=True)
    assert not any(x.is_meta for x in (*model.parameters(), *model.buffers())), "a buffer that is in no file"
    return model.eval()


def read_header(path: Path) -> dict[str, HeaderEntry]:
    """The names, types and shapes in a safetensors file; its numbers are not touched."""
    try:
        with atomic.open_plain(path) as file:
            length = int.from_bytes(file.read(8), "little")
        if length > _LARGEST_HEADER:
            raise RunError(f"{path}: cannot be read (its header has {length:,} bytes)")
        with safe_open(path, "pt") as tensors:
            slices = {name: tensors.get_slice(name) for name in tensors.keys()}  # noqa: SIM118 - not a dictionary
            return {name: HeaderEntry(tensor.get_dtype(), tuple(tensor.get_shape())) for name, tensor in slices.items()}
    except (OSError, SafetensorError, ValueError) as error:
        raise RunError(f"{path}: cannot be read ({_line(error)})") from None


def _read(path: Path) -> dict[str, Tensor]:
    """Each tensor in memory of its own, laid out as torch likes it: in the file they lie one behind the other."""
    try:
        with safe_open(path, "pt") as tensors:
            return {name: tensors.get_tensor(name).clone() for name in tensors.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: cannot be read ({_line(error)})") from None


def _line(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.splitlines()[0] if text else type(error).__name__


class _Unfilled(TorchFunctionMode):
    """Leaves out the filling with random numbers: on `meta` it does nothing, after a second of torch's own imports."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        filling = func in (Tensor.normal_, Tensor.uniform_) or getattr(func, "__module__", "") == nn.init.__name__
        if filling:
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)


def _numbers(value: Any, name: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, Mapping):
        for inner, entry in value.items():
            if inner not in _WITHOUT_WEIGHTS:
                yield from _numbers(entry, f"{name}.{inner}")
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _numbers(entry, name)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value


def _check_sizes(path: Path, kept: Mapping[str, HeaderEntry], numbers: Numbers) -> None:
    """No size of a model is larger than the largest matrix it is the size of."""
    largest = max((size for entry in kept.values() for size in entry.shape), default=0)
    for name, number in numbers:
        if number > max(largest, _SMALL):
            raise RunError(
                f"{path}: does not fit config.json; {name} = {number}, but it holds at most {largest} rows or columns"
            )


@contextmanager
def _no_more_than(path: Path, kept: Mapping[str, HeaderEntry], numbers: Numbers) -> Iterator[None]:
    """Stops building at far more tensors than the file holds: a million layers take long even without memory."""
    left, builder = 2 * len(kept) + 64, threading.get_ident()

    def count(module: nn.Module, name: str, parameter: nn.Parameter) -> None:
        nonlocal left
        if threading.get_ident() != builder:  # torch calls this for everybody
            return
        left -= 1
        if left < 0:
            repeats = [f"{setting} = {number}" for setting, number in numbers if setting.endswith(_REPEATS)]
            reasons = f" ({', '.join(repeats)})" if repeats else ""
            raise RunError(f"{path}: does not fit config.json; it holds {len(kept)} tensors of many more{reasons}")

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


def _compare(path: Path, kept: Mapping[str, HeaderEntry], expected: Mapping[str, Tensor], numbers: Numbers) -> None:
    missing, unexpected = sorted(expected.keys() - kept.keys()), sorted(kept.keys() - expected.keys())
    if missing or unexpected:
        both = {"missing": missing, "unexpected": unexpected}
        listed = "; ".join(f"{kind} {_listed(names)}" for kind, names in both.items() if names)
        raise RunError(f"{path}: does not fit config.json; {listed}")
    for name, tensor in expected.items():
        shape, held = tuple(tensor.shape), kept[name].shape
        if shape != held:
            raise RunError(f"{path}: does not fit config.json; {_misfit(name, shape, held, numbers)}")
        if kept[name].type != _TYPES[tensor.dtype]:
            raise RunError(f"{path}: {name} holds numbers of type {kept[name].type}, expected {_TYPES[tensor.dtype]}")


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name[:80]) for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _misfit(name: str, shape: tuple[int, ...], held: tuple[int, ...], numbers: Numbers) -> str:
    """`model.target_vocabulary = 500, but decoder.embedding.weight holds 394 rows`, if one setting can be blamed."""
    plain = f"{name} has shape {held} instead of {shape}"
    places = [place for place, (ours, theirs) in enumerate(zip(shape, held, strict=False)) if ours != theirs]
    if len(shape) != len(held) or len(places) != 1:
        return plain
    (place,) = places
    blamed = [setting for setting, number in numbers if number == shape[place]]
    if len(blamed) != 1:
        return plain
    kind = ("rows", "columns")[place] if len(shape) == 2 else f"in dimension {place}"
    return f"{blamed[0]} = {shape[place]}, but {name} holds {held[place]} {kind}"
