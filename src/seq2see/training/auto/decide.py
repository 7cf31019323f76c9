"""Both moments as a whole; what a person set wins."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from seq2see.data.profile import Profile
from seq2see.data.sources import BUILTIN
from seq2see.runs.config import RunConfig, read_config
from seq2see.training.auto.choice import Budget, SettingChoice, UpdatePlan
from seq2see.training.auto.corpus import (
    choose_family,
    choose_held_out,
    choose_invented,
    choose_length,
    choose_pieces,
    choose_valid_pairs,
    fitting_families,
)
from seq2see.training.auto.optimization import (
    choose_averaging,
    choose_batch,
    choose_rate,
    choose_regularisation,
    choose_size,
    choose_validation,
)

_WORTH_PROCESSES = 120.0  # seconds of training: starting processes takes some of them
_MANY_PAIRS = 5000  # from which on training takes minutes


def may_train_together(config: RunConfig, profile: Profile) -> bool:
    """Several processes are worth their start where training takes minutes, and nobody has said how it runs."""
    fixed = set(fixed_names(config))
    if fixed & {"training.processes", "training.threads", "training.clock"}:
        return False
    if config.training.time_limit is not None:
        return config.training.time_limit >= _WORTH_PROCESSES
    return profile.pairs >= _MANY_PAIRS and not fixed & {"training.steps", "training.epochs"}


class Decided(NamedTuple):
    """Settings with the choices in them, and the lines that say so."""

    config: RunConfig
    lines: list[str]


def decide_data(config: RunConfig, profile: Profile) -> Decided:
    """Before vocabularies are learned."""
    fixed = set(fixed_names(config))
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
    given_batch = training.batch_tokens if "training.batch_tokens" in fixed_names(config) else None
    batch, plan = choose_batch(profile, budget, functools.partial(speed, size), given_batch)
    batch_tokens = plan.batch
    per_epoch = budget.epoch_pieces / batch_tokens
    if budget.seconds is None and {"training.steps", "training.epochs"} & set(fixed_names(config)):
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


def fixed_names(config: RunConfig) -> tuple[str, ...]:
    return config.given or ()


def apply(config: RunConfig, choices: Iterable[SettingChoice | None]) -> Decided:
    """The choices but for the names that a person gave."""
    fixed = set(fixed_names(config))
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
