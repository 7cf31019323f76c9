"""What a sentence must and must not say: prefix, required and forbidden phrases, repeated n-grams, least length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from seq2see.errors import ConfigError
from seq2see.search.hypothesis import Rule
from seq2see.vocabulary import EOS, UNK

Phrase = tuple[int, ...]


class Ban(NamedTuple):
    """What may not come next, and why."""

    tokens: dict[int, Rule]
    only: frozenset[int] | None = None  # if given, nothing but these
    only_rule: Rule = "prefix"

    def rule(self, token: int) -> Rule | None:
        if self.only is not None and token not in self.only:
            return self.only_rule
        return self.tokens.get(token)


@dataclass(frozen=True)
class Rules:
    """Of one sentence. The prefix stands above all others, required phrases above repeated n-grams."""

    limit: int  # most steps, the end included
    min_length: int
    ngram: int
    prefix: Phrase
    required: tuple[Phrase, ...]
    forbidden: tuple[Phrase, ...]

    def ban(self, generated: list[int]) -> Ban:
        place = len(generated)
        if place < len(self.prefix):
            return Ban({}, frozenset([self.prefix[place]]))
        tokens: dict[int, Rule] = dict.fromkeys(repeating(generated, self.ngram), "repeated")
        only = None
        if (needed := self.needed(generated)) > 0:
            phrases = (*self.required, *self.forbidden)
            after = {token: self.needed([*generated, token]) for phrase in phrases for token in phrase}
            room = self.limit - place - 2  # behind this token, with one step left for the end
            for token, still in after.items():
                if still > room:
                    tokens[token] = "required"
                elif still < needed:
                    tokens.pop(token, None)
            if self._needed_after_any_other(generated) > room:
                only = frozenset(after)
            tokens[EOS] = "required"
        tokens |= {phrase[-1]: "forbidden" for phrase in self.forbidden if ends_with(generated, phrase[:-1])}
        if place < self.min_length:
            tokens[EOS] = "too short"
        return Ban(tokens, only, "required")

    def needed(self, generated: list[int]) -> int:
        """Tokens that surely suffice to say all required phrases: one is begun or goes on, the others follow.

        Where the next one would complete a forbidden phrase, a word stands between; one is counted for each phrase.
        """
        unmet = [phrase for phrase in self.required if not contains(generated, phrase)]
        whole = sum(map(len, unmet)) + self._between * len(unmet)
        return whole - max((len(phrase) + self._between - self._cost(generated, phrase) for phrase in unmet), default=0)

    def _cost(self, generated: list[int], phrase: Phrase) -> int:
        """Tokens until this phrase is said, if it is the next one."""
        rest = phrase[begun(generated, phrase) :]
        continuations = [[*generated, *rest[: place + 1]] for place in range(len(rest))] if self._between else []
        clear = not any(
            ends_with(continuation, forbidden) for continuation in continuations for forbidden in self.forbidden
        )
        return len(rest) if clear else len(phrase) + 1

    def _needed_after_any_other(self, generated: list[int]) -> int:
        """What is needed if the next token belongs to no phrase: nothing is begun, and nothing in the way."""
        unmet = [phrase for phrase in self.required if not contains(generated, phrase)]
        return sum(map(len, unmet)) + self._between * (len(unmet) - 1)

    @property
    def _between(self) -> int:
        return int(any(len(phrase) > 1 for phrase in self.forbidden))

    def advancing(self, generated: list[int]) -> set[int]:
        """Tokens that bring the required phrases nearer and are not banned."""
        needed, ban = self.needed(generated), self.ban(generated)
        tokens = {token for phrase in self.required for token in phrase} if needed else set()
        return {token for token in tokens if self.needed([*generated, token]) < needed and ban.rule(token) is None}

    def check_vocabulary(self, size: int) -> None:
        highest = max(
            (token for phrase in (self.prefix, *self.required, *self.forbidden) for token in phrase), default=0
        )
        if highest >= size:
            raise ConfigError(f"a prefix or phrase holds the id {highest}, but the target vocabulary has {size} pieces")

    @property
    def any(self) -> bool:
        return bool(self.min_length or self.ngram or self.prefix or self.required or self.forbidden)


def make_rules(
    sentence: int,
    limit: int,
    min_length: int,
    ngram: int,
    prefix: Sequence[int],
    required: Iterable[Sequence[int]],
    forbidden: Iterable[Sequence[int]],
) -> Rules:
    """Checked: what cannot be met at all is refused here, with the number of the sentence."""
    start, wanted, unwanted = tuple(prefix), {tuple(p) for p in required}, {tuple(p) for p in forbidden}
    for phrase in (*wanted, *unwanted):
        if not phrase:
            raise ConfigError(f"sentence {sentence}: an empty phrase can be neither required nor forbidden")
    for phrase in (start, *wanted, *unwanted):
        if any(token < UNK for token in phrase):
            raise ConfigError(f"sentence {sentence}: {list(phrase)} holds a special id below {UNK}, never said by rule")
    clash = [(p, q) for p in (start, *sorted(wanted)) for q in sorted(unwanted) if contains(list(p), q)]
    if clash:
        raise ConfigError(f"sentence {sentence}: {list(clash[0][0])} has to be said, but {list(clash[0][1])} must not")
    longest = sorted(p for p in wanted if not any(p != q and contains(list(q), p) for q in wanted))
    rules = Rules(limit, min_length, ngram, start, tuple(longest), tuple(sorted(unwanted)))
    least = len(start) + rules.needed(list(start))
    if limit < 1 or (least and least >= limit) or min_length > limit:
        raise ConfigError(
            f"sentence {sentence}: a limit of {limit} steps, the end included, is too small for {least} tokens of "
            f"prefix and required phrases and a min_length of {min_length}"
        )
    return rules


def repeating(generated: list[int], size: int) -> list[int]:
    """Tokens that would make the last `size` tokens occur a second time."""
    if size < 1 or len(generated) < size:
        return []
    last = generated[len(generated) - size + 1 :]
    starts = range(len(generated) - size + 1)
    return [generated[start + size - 1] for start in starts if generated[start : start + size - 1] == last]


def contains(generated: list[int], phrase: Phrase) -> bool:
    """Whether the phrase stands in it, all tokens side by side."""
    wanted = list(phrase)
    return any(generated[start : start + len(wanted)] == wanted for start in range(len(generated) - len(wanted) + 1))


def ends_with(generated: list[int], phrase: Phrase) -> bool:
    return len(generated) >= len(phrase) and generated[len(generated) - len(phrase) :] == list(phrase)


def begun(generated: list[int], phrase: Phrase) -> int:
    """How many tokens of the phrase are said already at the very end."""
    return next((size for size in range(len(phrase), 0, -1) if ends_with(generated, phrase[:size])), 0)
