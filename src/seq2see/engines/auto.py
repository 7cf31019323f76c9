"""Which engine searches: the one that was named, or with `auto` the fastest in full precision.

    a Transformer that CTranslate2 knows           ctranslate2   made in memory in a moment
    any other run with graphs in its folder        onnx          made by `--engine onnx`, and for a large file
    everything else, and what only torch can do    torch

Weights in eight bits change one translation in ten, so they are never chosen, only named. CTranslate2 has a
beam search of its own, which changes some four in a thousand; `--engine torch` is the reference.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from seq2see.engines.base import ENGINES, Engine, EngineChoice, EngineName
from seq2see.engines.cache import has_graphs, make_engine
from seq2see.engines.ct2_engine import declined
from seq2see.engines.ct2_model import obstacle
from seq2see.engines.shortlist import Shortlist
from seq2see.errors import ConfigError, RunError, nearest
from seq2see.runs.folder import Run
from seq2see.search import SearchConfig

Say = Callable[[str], None]


class Engines:
    """What computes the searches of some runs, an engine for each. One that is named is made at once; what `auto`
    chooses is made when the first search begins, so that whoever only looks does not wait for it."""

    def __init__(
        self,
        runs: Sequence[Run],
        name: EngineChoice = "torch",
        say: Say = lambda _: None,
        *,
        make_graphs: bool = False,
        shortlist: Shortlist | None = None,
    ) -> None:
        """say           is told what is made, and once what was chosen
        make_graphs   auto makes graphs for ONNX Runtime where the folder has none, which takes some twenty seconds
        shortlist     of the first run: what each sentence may be said with; None: all of the vocabulary
        """
        if name not in ("auto", *ENGINES):
            raise ConfigError(f"engine = '{name}' is unknown{nearest(name, ('auto', *ENGINES))}")
        self.runs, self.name, self._say, self._told = tuple(runs), name, say, set[str]()
        self.shortlist = shortlist
        self._fastest: EngineName = fastest(self.runs, make_graphs=make_graphs) if name == "auto" else name
        self._made: dict[EngineName, tuple[Engine, ...]] = {"torch": tuple(run.model for run in runs)}
        if name != "auto":
            self._make(name)

    def name_of(self, search: SearchConfig, *, record: bool = False) -> EngineName:
        """The engine of a search."""
        if self.name != "auto":
            return self.name
        return "torch" if what_only_torch_does(self._fastest, search, record=record) else self._fastest

    def of(self, search: SearchConfig, *, record: bool = False) -> tuple[Engine, ...]:
        """An engine for each run, made if need be."""
        name = self.name_of(search, record=record)
        if self.name == "auto" and name != self._fastest:
            asked = what_only_torch_does(self._fastest, search, record=record)
            self._say_once(f"engine torch: {self._fastest} does not do {asked}")
        elif self.name == "auto" and name != "torch":
            self._say_once(f"engine {name}: the fastest here in full precision (--engine names another)")
        try:
            self._make(name)
        except RunError as error:
            self._say_once(f"engine torch: {error}")
            self._fastest = name = "torch"
        return self._made[name]

    def _make(self, name: EngineName) -> None:
        if name not in self._made:
            self._made[name] = tuple(make_engine(run, name, self._say, self.shortlist) for run in self.runs)

    def _say_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._say(text)


def fastest(runs: Sequence[Run], *, make_graphs: bool = False) -> EngineName:
    """Of the engines that are installed, know the runs and compute in full precision."""
    if len(runs) > 1:  # members are searched step by step, together
        return "torch"
    (run,) = runs
    if find_spec("ctranslate2") and obstacle(run.model) is None:
        return "ctranslate2"
    installed = all(map(find_spec, ("onnx", "onnxscript", "onnxruntime")))
    return "onnx" if installed and (make_graphs or has_graphs(run)) else "torch"


def what_only_torch_does(name: EngineName, search: SearchConfig, *, record: bool) -> str | None:
    """What of a search an engine leaves to torch, in words; None if it does it all."""
    if name == "ctranslate2":
        return "a record of the search" if record else declined(search)
    return "the coverage penalty" if name == "onnx" and search.coverage else None
