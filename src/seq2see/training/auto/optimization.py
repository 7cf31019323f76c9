"""Once the pairs are ids: the size of the model, and how it is trained."""

import math
from collections.abc import Callable
from typing import Any

from seq2see.data.profile import Profile
from seq2see.training.auto.choice import FEW, SMALL_CORPUS, Budget, SettingChoice, UpdatePlan, counted, described

RECURRENT = ("rnn", "rnnsearch", "luong")
_SIZES = ("base", "small", "tiny")  # the largest that learns enough in the time
_WIDTHS = {"tiny": 128, "small": 256, "base": 512, "paper": 1024}
_PASSES = 12  # over sentence pairs that a model has to have time for; half as many from _LARGE_CORPUS on
_PASSES_OF_CONVOLUTIONS = 6  # convs2s learns more from each
_LARGE_CORPUS = 100_000
_FEWEST_UPDATES = 20
_AVERAGED = 200  # updates from which on an average has something to average
_AVERAGED_MOST = 2000  # updates that one is taken over
_AVERAGED_UNPLANNED = 500  # the same, where nobody knows how many updates there will be
_MOST_EPOCHS = 1000  # over few pairs without a time limit, should validation never stop improving
_MOST_EPOCHS_OF_MANY = 100
_BETWEEN_VALIDATIONS = 20  # passes over the pairs at most, without a time limit
_LONGEST_VALIDATION = 0.25  # of a time limit
_MOST_PROCESSES = 8  # more would get too little of a batch
USUAL_BATCH = 2048  # pieces, where nothing better is known


def choose_size(
    profile: Profile, budget: Budget, speed: Callable[[str, int], float], family: str = "transformer"
) -> SettingChoice:
    """`speed` measures how many pieces a second a model of a size learns from, in batches of so many."""
    if profile.pairs <= SMALL_CORPUS:
        reason = f"tiny: {described(profile)} {'does' if profile.pairs == 1 else 'do'} not fill a larger model"
        return SettingChoice("size", {"model.size": "tiny"}, reason)
    if budget.seconds is None:
        size = "base" if profile.pairs >= 20 * _LARGE_CORPUS and not profile.spelled else "small"
        return SettingChoice("size", {"model.size": size}, f"{size}: {described(profile)}, no time limit")
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


def choose_processes(free: float) -> SettingChoice | None:
    """`free`: cores that the machine has to spare, as measured; each process has one of them."""
    processes = min(_MOST_PROCESSES, int(free + 0.25))
    if processes < 2:
        return None
    reason = f"{processes}, each with its part of every batch: {free:.1f} cores are free"
    return SettingChoice("processes", {"training.processes": processes}, reason)


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
        most = _MOST_EPOCHS if profile.pairs < FEW else _MOST_EPOCHS_OF_MANY
        settings = {"training.batch_tokens": batch, "training.epochs": most}
        return SettingChoice("batch", settings, f"{batch:,} pieces"), UpdatePlan(batch, None, epochs)
    wanted = 8000 if profile.spelled else 6000
    fitting = budget.seconds * speed(USUAL_BATCH) / wanted
    batch = given or int(min(4096, max(512, _rounded(fitting)), largest))
    updates = max(1, int(budget.seconds * speed(batch) / batch))
    epochs = budget.epochs(speed(batch))
    reason = f"{batch:,} pieces, about {updates:,} updates in the time limit ({counted(round(epochs), 'epoch')})"
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
    if plan.epochs > 60 and profile.pairs < FEW:
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
