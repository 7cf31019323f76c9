"""Settings from the pairs and the time: what an expert would have chosen, each with its reason.

Rules, not a search: they read a `Profile` of the pairs and how fast this machine trains. What a person sets wins over
them. Where each rule comes from and what was measured is in docs/log.md.

    before vocabularies are learned    family, pieces, shared vocabulary, invented pairs, maximum length
    once the pairs are ids             size, batch, rate, warm-up, schedule, beta2, regularisation, validations
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from seq2see.data.profile import COUNTED, Profile, SideProfile
from seq2see.data.sources import BUILTIN
from seq2see.errors import ConfigError
from seq2see.models import configure
from seq2see.runs.config import RunConfig, read_config

RECURRENT = ("rnn", "rnnsearch", "luong")
_FAMILIES = ("convs2s", "transformer", "rnnsearch", "luong", "bytenet", "rnn")  # where nobody knows better
_SIZES = ("base", "small", "tiny")  # the largest that learns enough in the time
_WIDTHS = {"tiny": 128, "small": 256, "base": 512, "paper": 1024}
_FEW = 10_000  # sentence pairs below which recurrent models learn most
_PASSES = 12  # over sentence pairs that a model has to have time for; half as many from _LARGE_CORPUS on
_PASSES_OF_CONVOLUTIONS = 6  # convs2s learns more from each
_LONGEST = 1024  # pieces of a line
_SMALL_CORPUS = 20_000  # pairs for which tiny is large enough
_LARGE_CORPUS = 100_000
_PIECES = (1000, 2000, 4000, 8000, 16_000, 32_000)
_FIXED = 260  # pieces that every vocabulary of subwords has: bytes and marks
_JAMO = 67
_ROOM = 1.25  # more letters than the lines that were counted have
_MUCH_COPIED = 0.6  # of the characters of a target stand in its source as one run
_SHARED_ALPHABET = 0.6
_TAGS = 0.3  # share of a side's words that stand in many lines, such as `V;PST`
_FEWEST_UPDATES = 20
_AVERAGED = 200  # updates from which on an average has something to average
_AVERAGED_MOST = 2000  # updates that one is taken over
_AVERAGED_UNPLANNED = 500  # the same, where nobody knows how many updates there will be
_MOST_EPOCHS = 1000  # without a time limit, should validation never stop improving
_BETWEEN_VALIDATIONS = 20  # passes over the pairs at most, without a time limit
_LONGEST_VALIDATION = 0.25  # of a time limit
_SHORT = 200  # characters of a line that is called short
_WORTH_PROCESSES = 120.0  # seconds of training: starting processes takes some of them
_MANY_PAIRS = 5000  # from which on training takes minutes
_MOST_PROCESSES = 8  # more would get too little of a batch
USUAL_BATCH = 2048  # pieces, where nothing better is known


class SettingChoice(NamedTuple):
    """One line of the plan: settings by their dotted names, and why."""

    topic: str
    settings: Mapping[str, Any]
    reason: str

    def line(self) -> str:
        return f"{self.topic}: {self.reason}"


@dataclass(frozen=True)
class Budget:
    """What there is to learn from, and how long."""

    pairs: int
    epoch_pieces: int  # pieces of all pairs, of the longer side of each
    seconds: float | None = None  # of updates, or None without a time limit

    def epochs(self, speed: float) -> float:
        """Passes over the pairs that fit, at so many pieces a second."""
        assert self.seconds is not None
        return self.seconds * speed / max(1, self.epoch_pieces)


# ----- before vocabularies are learned


def choose_family(profile: Profile, among: Sequence[str] = _FAMILIES) -> SettingChoice:
    """among   those that have the model settings that a person gave, best first; all of them if there are none"""
    family = "rnnsearch" if profile.spelled or profile.pairs < _FEW else "convs2s"
    few = "only " if not profile.spelled and profile.pairs < _FEW else ""
    reason = f"{few}{_described(profile)}"
    if family not in among:
        family, reason = among[0], "it has the settings that were given"
    return SettingChoice("model", {"model.family": family}, f"{family}: {reason}")


def fitting_families(settings: Mapping[str, Any]) -> list[str]:
    """The families that have these model settings, the best of them first; none if there is no such family."""
    given = {name: value for name, value in settings.items() if name not in ("family", "size")}
    return [family for family in _FAMILIES if _fits(family, str(settings.get("size", "small")), given)]


def _fits(family: str, size: str, settings: Mapping[str, Any]) -> bool:
    try:
        configure(family, size, source_vocabulary=4, target_vocabulary=4, settings=settings)
    except ConfigError:
        return False
    return True


def _described(profile: Profile) -> str:
    if not profile.spelled:
        return _counted(profile.pairs, "sentence")
    is_short = max(profile.source.characters, profile.target.characters) <= _SHORT
    return _counted(profile.pairs, "short string" if is_short else "line")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class SidePieces(NamedTuple):
    """How one side is cut."""

    settings: dict[str, Any]
    text: str


def choose_pieces(profile: Profile, *, shared: bool | None = None, scheme: str | None = None) -> SettingChoice:
    """Each side by itself; one shared vocabulary where both sides are written in the same letters.

    shared, scheme   what a person wants
    """
    if shared is None:
        shared = scheme in (None, "bpe", "unigram") and _shares_vocabulary(profile)
    source = _pieces(profile.source, profile, scheme)
    target = _pieces(profile.target, profile, scheme)
    if shared:
        both = _pieces(_together(profile), profile, scheme or (None if source == target else "bpe"))
        settings = {f"tokenizer.{name}": value for name, value in both.settings.items()}
        return SettingChoice(
            "pieces", settings | {"data.shared_vocabulary": True}, f"{both.text}, shared by both sides"
        )
    if source.settings == target.settings:
        settings = {f"tokenizer.{name}": value for name, value in source.settings.items()}
        return SettingChoice("pieces", settings, source.text)
    sides = (("source", source), ("target", target))
    settings = {f"tokenizer.{side}.{name}": value for side, cut in sides for name, value in cut.settings.items()}
    return SettingChoice("pieces", settings, f"source {source.text}; target {target.text}")


def _shares_vocabulary(profile: Profile) -> bool:
    both_sentences = profile.source.kind == profile.target.kind == "sentence"
    return both_sentences and profile.common_characters >= _SHARED_ALPHABET


def _together(profile: Profile) -> SideProfile:
    """Both sides as one, as far as their pieces go: they may have no character in common."""
    source, target = profile.source, profile.target
    return replace(
        target,
        word_tokens=source.word_tokens + target.word_tokens,
        alphabet=source.alphabet + target.alphabet,
        syllables=max(source.syllables, target.syllables),
        hangul=max(source.hangul, target.hangul),
    )


def _pieces(side: SideProfile, profile: Profile, scheme: str | None) -> SidePieces:
    jamo = side.hangul > 0
    in_jamo = " in jamo" if jamo else ""
    no_bytes = {"byte_fallback": False}
    if scheme in ("char", "word", "byte"):
        spelled = {"jamo": jamo} if scheme == "char" else {}
        return SidePieces({"scheme": scheme, **spelled}, f"{scheme} pieces{in_jamo if spelled else ''}")
    if side.kind == "closed" and scheme is None:
        text = f"{side.word_types:,} whole words, each seen often"
        return SidePieces({"scheme": "word", "min_frequency": 1, **no_bytes}, text)
    if side.kind == "string" and profile.spelled and scheme is None:
        if side.tags >= _TAGS:
            often = max(5, round(0.002 * profile.pairs))
            text = f"characters{in_jamo}, and whole words seen {often} times"
            return SidePieces({"scheme": "word", "min_frequency": often, "jamo": jamo, "byte_fallback": True}, text)
        return SidePieces({"scheme": "char", "jamo": jamo, **no_bytes}, f"characters{in_jamo}: short strings")
    scale = profile.pairs / max(1, min(profile.pairs, COUNTED))
    words = max(1, round(side.word_tokens * scale))
    count = _closest(_PIECES, 5 * math.sqrt(words))
    jamo = jamo and side.syllables > count / 4
    letters = side.alphabet - side.syllables + _JAMO if jamo else side.alphabet
    roomy = [size for size in _PIECES if size >= _ROOM * (letters + _FIXED)]  # each letter is a piece
    count = _closest(roomy or _PIECES[-1:], 5 * math.sqrt(words))
    text = f"{count:,} subwords{' in jamo' if jamo else ''} for {words:,} words"
    return SidePieces({"scheme": scheme or "bpe", "vocabulary": count, "jamo": jamo}, text)


def _closest(sizes: Sequence[int], wanted: float) -> int:
    return min(sizes, key=lambda size: abs(math.log(size / wanted)))


def choose_invented(profile: Profile, limit: int = _SMALL_CORPUS) -> SettingChoice | None:
    """Copying is learned from invented stems where the pairs copy most of a word."""
    strings = profile.source.kind == profile.target.kind == "string"
    if not strings or profile.copied < _MUCH_COPIED or profile.pairs > limit:
        return None
    reason = f"{profile.pairs:,} with other stems: {profile.copied:.0%} of a target is copied from its source"
    return SettingChoice("invented pairs", {"data.invented": profile.pairs}, reason)


def choose_valid_pairs(profile: Profile) -> SettingChoice | None:
    """Translating is slow beside updates: 500 sentences tell enough."""
    if profile.spelled:
        return None
    return SettingChoice("validation pairs", {"data.valid_pairs": 500}, "500 at most")


def choose_held_out(profile: Profile) -> SettingChoice | None:
    """A small corpus gives a larger share: the best of twenty validations is not chosen by a handful of pairs."""
    wanted = min(500, max(profile.pairs // 20, min(50, profile.pairs // 10)))
    every = profile.pairs // max(1, wanted)
    if not wanted or every >= 50:  # the usual share is enough
        return None
    return SettingChoice("held out", {"data.held_out": every}, f"about {wanted:,} pairs for validation, one in {every}")


def choose_length(profile: Profile) -> SettingChoice | None:
    """Room for all but one pair in a hundred, where the usual 256 pieces are too few."""
    long = max(_long(profile.source), _long(profile.target))
    if long <= 256:
        return None
    most = min(_LONGEST, long)
    more = "" if most == long else "more than "
    reason = f"at most {most:,} pieces: {more}one line in a hundred is longer and left out"
    return SettingChoice("length", {"training.max_length": most}, reason)


def _long(side: SideProfile) -> int:
    """Pieces that one line in a hundred exceeds, as far as characters tell: a subword has some three of them."""
    return side.long if side.kind == "string" else math.ceil(side.long / 3)


# ----- once the pairs are ids


def choose_size(
    profile: Profile, budget: Budget, speed: Callable[[str, int], float], family: str = "transformer"
) -> SettingChoice:
    """`speed` measures how many pieces a second a model of a size learns from, in batches of so many."""
    if profile.pairs <= _SMALL_CORPUS:
        reason = f"tiny: {_described(profile)} {'does' if profile.pairs == 1 else 'do'} not fill a larger model"
        return SettingChoice("size", {"model.size": "tiny"}, reason)
    if budget.seconds is None:
        size = "base" if profile.pairs >= 20 * _LARGE_CORPUS and not profile.spelled else "small"
        return SettingChoice("size", {"model.size": size}, f"{size}: {_described(profile)}, no time limit")
    wanted = 20 if profile.spelled else _PASSES_OF_CONVOLUTIONS if family == "convs2s" else _PASSES
    if profile.pairs >= _LARGE_CORPUS and not profile.spelled:
        wanted //= 2
    for size in ("small",) if profile.spelled else _SIZES[:-1]:
        if _affordable(size, budget, speed, wanted):
            reason = f"{size}: the largest that sees the pairs {wanted} times in the time limit"
            return SettingChoice("size", {"model.size": size}, reason)
    return SettingChoice(
        "size", {"model.size": "tiny"}, f"tiny: a larger one would not see the pairs {wanted} times in time"
    )


def _affordable(size: str, budget: Budget, speed: Callable[[str, int], float], wanted: int) -> bool:
    """base is measured only where small has time to spare: measuring it takes seconds."""
    if size == "base" and not budget.epochs(speed("small", USUAL_BATCH)) >= 4 * wanted:
        return False
    return budget.epochs(speed(size, USUAL_BATCH)) >= wanted


def may_train_together(config: RunConfig, profile: Profile) -> bool:
    """Several processes are worth their start where training takes minutes, and nobody has said how it runs."""
    fixed = set(_fixed_names(config))
    if fixed & {"training.processes", "training.threads", "training.clock"}:
        return False
    if config.training.time_limit is not None:
        return config.training.time_limit >= _WORTH_PROCESSES
    return profile.pairs >= _MANY_PAIRS and not fixed & {"training.steps", "training.epochs"}


def choose_processes(free: float) -> SettingChoice | None:
    """`free`: cores that the machine has to spare, as measured; each process has one of them."""
    processes = min(_MOST_PROCESSES, int(free + 0.25))
    if processes < 2:
        return None
    reason = f"{processes}, each with its part of every batch: {free:.1f} cores are free"
    return SettingChoice("processes", {"training.processes": processes}, reason)


class UpdatePlan(NamedTuple):
    """What the remaining rules agree on."""

    batch: int  # pieces
    updates: int | None  # planned, None without a time limit
    epochs: float  # planned, or a guess


def choose_batch(
    profile: Profile, budget: Budget, speed: Callable[[int], float], given: int | None = None
) -> tuple[SettingChoice, UpdatePlan]:
    """Some thousand updates in the time, no batch a large part of the pairs.

    speed   pieces a second, by batch
    given   the batch that a person wants: the plan is for it
    """
    largest = max(256, budget.epoch_pieces // 20)
    if budget.seconds is None:
        batch = given or min(1024 if profile.spelled else 2048, largest)
        epochs = 40.0 if profile.pairs < 50_000 else 15.0
        settings = {"training.batch_tokens": batch, "training.epochs": _MOST_EPOCHS}
        return SettingChoice("batch", settings, f"{batch:,} pieces"), UpdatePlan(batch, None, epochs)
    wanted = 8000 if profile.spelled else 6000
    fitting = budget.seconds * speed(USUAL_BATCH) / wanted
    batch = given or int(min(4096, max(512, _rounded(fitting)), largest))
    updates = max(1, int(budget.seconds * speed(batch) / batch))
    epochs = budget.epochs(speed(batch))
    reason = f"{batch:,} pieces, about {updates:,} updates in the time limit ({_counted(round(epochs), 'epoch')})"
    settings = {"training.batch_tokens": batch, "training.epochs": 1_000_000}
    return SettingChoice("batch", settings, reason), UpdatePlan(batch, updates, epochs)


def _rounded(number: float) -> int:
    """To a power of two."""
    return 2 ** round(math.log2(max(1.0, number)))


def choose_rate(family: str, size: str, plan: UpdatePlan, *, tuned: bool) -> SettingChoice:
    """Highest rate, warm-up, schedule, and how long AdamW remembers squared gradients.

    tuned   training starts from weights that are good already
    """
    width = _WIDTHS.get(size, 256)
    if family in RECURRENT:
        rate = min(4e-3, max(1e-3, 3e-3 * (128 / width) ** 0.75))
    elif family == "transformer":
        rate = min(4e-3, 2e-3 * (256 / width) * math.sqrt(plan.batch / 4096))
    else:
        rate = 5e-3  # convolutions
    rate = float(f"{rate * (0.3 if tuned else 1.0):.2g}")
    usual = 150 if family in RECURRENT else 400
    beta2 = round(min(0.999, 0.98 ** (plan.batch / 25_000)), 4)
    settings: dict[str, Any] = {"training.learning_rate": rate, "training.beta2": beta2}
    if plan.updates is None:
        settings |= {"training.warmup": usual, "training.schedule": "plateau"}
        reason = f"{rate:g}, halved when validation stops improving (warm-up {usual}, beta2 {beta2})"
    else:
        share = 0.05 if family in RECURRENT else 0.1
        warmup = min(usual, max(_FEWEST_UPDATES, int(share * plan.updates)), max(1, plan.updates // 10))
        settings |= {"training.warmup": warmup, "training.schedule": "linear"}
        reason = f"{rate:g}, falling to zero at the time limit (warm-up {warmup}, beta2 {beta2})"
    return SettingChoice("rate", settings, reason)


_DROPOUTS = {
    "convs2s": ("model.encoder.dropout", "model.decoder.dropout"),
    **dict.fromkeys(RECURRENT, ("model.dropout", "model.encoder.dropout")),
}


def choose_regularisation(profile: Profile, family: str, plan: UpdatePlan, *, subwords: bool) -> SettingChoice:
    """The more often the pairs are seen, the more is hidden from the model. subwords: merges can be left out."""
    dropout = 0.1 if plan.epochs < 8 else 0.2 if plan.epochs < 20 else 0.3
    if plan.epochs > 60 and profile.pairs < _FEW:
        dropout = 0.4
    smoothing = 0.05 if profile.spelled else 0.1
    settings: dict[str, Any] = dict.fromkeys(_DROPOUTS.get(family, ("model.dropout",)), dropout)
    settings["training.label_smoothing"] = smoothing
    text = f"dropout {dropout}, label smoothing {smoothing}"
    if plan.epochs >= 20:
        settings["training.word_dropout"] = 0.1
        text += ", 0.1 of the words said so far hidden"
    if subwords and plan.epochs >= 40:  # it pads batches to nearly twice their length
        settings["tokenizer.dropout"] = 0.1
        text += ", 0.1 of the merges left out"
    times = f"about {plan.epochs:.0f} times" if plan.epochs >= 1 else "less than once"
    return SettingChoice("regularisation", settings, f"{text}: the pairs are seen {times}")


def choose_averaging(plan: UpdatePlan) -> SettingChoice | None:
    """A moving average of the weights over a twentieth of the updates: what is validated and kept."""
    if plan.updates is None:
        span = _AVERAGED_UNPLANNED
    elif plan.updates < _AVERAGED:
        return None
    else:
        span = min(_AVERAGED_MOST, plan.updates // 20)
    settings = {"training.ema": round(1 - 1 / span, 4)}
    return SettingChoice("averaging", settings, f"the weights of about {span:,} updates are averaged")


def choose_validation(
    profile: Profile, plan: UpdatePlan, *, limit: float | None, cost: float, per_epoch: float = 500
) -> SettingChoice:
    """Twenty validations, fewer where they would take more than 8 % of the time.

    Where one of them would take most of it, the pairs are not translated: the loss of their references decides. Without
    a limit there is one every 500 updates, more often where few pairs are seen again and again.

    cost        seconds of one
    per_epoch   updates of a pass over the pairs
    """
    metric = "exact" if profile.spelled else "chrf"
    settings: dict[str, Any] = {"training.stop_metric": metric}
    if plan.updates is None or limit is None:
        every = min(500, max(100, round(_BETWEEN_VALIDATIONS * per_epoch)))
        settings |= {"training.validate_every": every, "training.save_every": every, "training.patience": 8}
        return SettingChoice("validation", settings, f"{metric}, every {every} updates; ends after 8 without gain")
    count = min(20, max(1, int(0.08 * limit / max(cost, 1e-3))))
    if cost > _LONGEST_VALIDATION * limit:  # three translations are shown all the same
        metric, count = "loss", 4
        settings["training.stop_metric"] = metric
    every = max(min(25, plan.updates), math.ceil(plan.updates / count))
    settings |= {"training.validate_every": every, "training.save_every": every, "training.patience": 1_000_000}
    return SettingChoice(
        "validation", settings, f"{metric}, every {every} updates and at the end; the best weights are kept"
    )


# ----- both moments as a whole; what a person set wins


class Decided(NamedTuple):
    """Settings with the choices in them, and the lines that say so."""

    config: RunConfig
    lines: list[str]


def decide_data(config: RunConfig, profile: Profile) -> Decided:
    """Before vocabularies are learned."""
    fixed = set(_fixed_names(config))
    in_subwords = fixed & {"tokenizer.scheme", "tokenizer.vocabulary", "tokenizer.dropout"}
    scheme = config.tokenizer.scheme if in_subwords else None
    shared = config.data.shared_vocabulary if "data.shared_vocabulary" in fixed else None
    choices: list[SettingChoice | None] = [
        choose_pieces(profile, shared=shared, scheme=scheme),
        choose_invented(profile),
        choose_length(profile),
        choose_valid_pairs(profile),
    ]
    if not config.data.valid and not all(name.startswith(BUILTIN) for name in config.data.train):
        choices.append(choose_held_out(profile))
    if config.base is None and "model.family" not in fixed:
        choices.insert(0, choose_family(profile, fitting_families(config.model)))
    return apply(config, choices)


def decide_training(
    config: RunConfig, profile: Profile, budget: Budget, *, speed: Callable[[str, int], float], validation: float
) -> Decided:
    """Once the pairs are ids.

    speed        pieces a second that a model of a size learns from in batches of so many, measured when it is called
    validation   seconds of one
    """
    training, family = config.training, str(config.model["family"])
    choices: list[SettingChoice | None] = []
    if config.base is None:
        choices.append(choose_size(profile, budget, speed, family))
    size = str(apply(config, choices).config.model.get("size", "small"))
    given_batch = training.batch_tokens if "training.batch_tokens" in _fixed_names(config) else None
    batch, plan = choose_batch(profile, budget, functools.partial(speed, size), given_batch)
    batch_tokens = plan.batch
    per_epoch = budget.epoch_pieces / batch_tokens
    if budget.seconds is None and {"training.steps", "training.epochs"} & set(_fixed_names(config)):
        updates = training.steps or max(1, round(per_epoch * training.epochs))
        plan = UpdatePlan(batch_tokens, updates, updates / per_epoch)
    elif plan.updates is not None:
        plan = plan._replace(updates=min(plan.updates, training.steps or plan.updates))
    choices += [batch, choose_rate(family, size, plan, tuned=config.base is not None)]
    if config.base is None:
        subwords = all(side.scheme == "bpe" for side in config.tokenizer.sides)
        choices.append(choose_regularisation(profile, family, plan, subwords=subwords))
        choices.append(choose_averaging(plan))
        if family == "transformer" and config.data.shared_vocabulary:
            reason = "one set for source, target and output: the pieces are shared"
            choices.append(SettingChoice("word vectors", {"model.tie": "all"}, reason))
    choices.append(choose_validation(profile, plan, limit=training.time_limit, cost=validation, per_epoch=per_epoch))
    return apply(config, choices)


def _fixed_names(config: RunConfig) -> tuple[str, ...]:
    return config.given or ()


def apply(config: RunConfig, choices: Iterable[SettingChoice | None]) -> Decided:
    """The choices but for the names that a person gave."""
    fixed = set(_fixed_names(config))
    settings: dict[str, Any] = config.model_dump(mode="json")
    chosen, lines = dict(config.chosen), []
    for choice in choices:
        if choice is None:
            continue
        free = {name: value for name, value in choice.settings.items() if not _is_given(name, fixed)}
        for name, value in free.items():
            settings = _with(settings, name.split("."), value)
            chosen[name] = choice.reason
        if free:
            lines.append(choice.line())
    decided = read_config(settings | {"chosen": chosen})
    return Decided(decided.model_copy(update={"given": config.given}), lines)


def _is_given(name: str, fixed: set[str]) -> bool:
    """`tokenizer.source.scheme` is given by `tokenizer.source.scheme` and by `tokenizer.scheme`."""
    parts = name.split(".")
    general = ".".join([parts[0], *parts[2:]]) if len(parts) == 3 and parts[0] == "tokenizer" else name
    return name in fixed or general in fixed


def _with(settings: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**settings, path[0]: value}
    inner = settings.get(path[0])
    return {**settings, path[0]: _with(inner if isinstance(inner, Mapping) else {}, path[1:], value)}


def names(settings: Mapping[str, Any], prefix: str = "") -> list[str]:
    """The dotted names of nested settings."""
    paths = []
    for name, value in settings.items():
        path = f"{prefix}{name}"
        paths += names(value, f"{path}.") if isinstance(value, Mapping) else [path]
    return paths
