"""A voice as one uses it: text in, speech out.

voice = Voice.load("runs/voice")
voice.speak("the happy birds sing", style="reference.wav").save("birds.wav")
voice.speak("the happy birds sing", tokens={3: 0.8})          the mean style, token 3 at 0.8 in every head
voice.style("reference.wav")                                  what a recording sounds like, as a map
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seq2see.errors import ConfigError, DataError
from seq2see.look import AttentionMap, Side, joined
from seq2see.look.map.side import words_of
from seq2see.speech import audio
from seq2see.speech.corpus.letters import Letters
from seq2see.speech.corpus.recordings import spectrogram
from seq2see.speech.model.style import Style
from seq2see.speech.model.tacotron import SynthesizedMel
from seq2see.speech.model.task import padded_ids
from seq2see.speech.speech import Speech
from seq2see.speech.training import VoiceRun, load_voice
from seq2see.text.jamo import decompose

Tokens = Mapping[int | tuple[int, int], float]
"""Weights by token, in every head, or by (head, token)."""

_MOST_LETTERS = 110  # of a part of a long text: a ten-word sentence has about 70
_PAUSE = 0.2  # seconds between parts
_AT_ONCE = 16  # parts spoken side by side
_SENTENCE = re.compile(r"[^.!?…。！？\n]*[.!?…。！？\n]+[\"'”’)\]]*|[^.!?…。！？\n]+")
_CLAUSE = re.compile(r"[^,;:—]*[,;:—]+|[^,;:—]+")
_MARKS = " \t\r\n.!?…。！？,;:—\"'“”‘’()[]"


class Voice:
    """A trained voice."""

    def __init__(self, run: VoiceRun) -> None:
        self.path, self.config = run.path, run.config
        self.letters, self.model = run.letters, run.model

    @staticmethod
    def load(path: str | Path) -> "Voice":
        """A finished run folder; every file is checked, nothing is executed."""
        return Voice(load_voice(Path(path)))

    def speak(
        self, text: str, *, style: str | Path | AttentionMap | None = None, tokens: Tokens | None = None
    ) -> Speech:
        """Text to speech.

        style    a recording to sound like, or what `style` made of one; none: the mean style of training
        tokens   weights set by hand, in 0..1; the other tokens of that style share what is left
        """
        return next(self.speak_all([text], style=style, tokens=tokens))

    def speak_all(
        self,
        texts: Iterable[str],
        *,
        style: str | Path | AttentionMap | None = None,
        tokens: Tokens | None = None,
    ) -> Iterator[Speech]:
        """The same for many, in order; several are spoken side by side, which changes none of them."""
        weights = self.weights(style, tokens)
        waiting = iter(texts)
        while some := list(islice(waiting, _AT_ONCE)):
            cut = [self.parts(text) for text in some]
            spoken = iter(self._speak([part for parts in cut for part in parts], weights))
            for text, parts in zip(some, cut, strict=True):
                yield self._joined(text, list(islice(spoken, len(parts))), weights)

    def style(self, recording: str | Path) -> AttentionMap:
        """What a recording sounds like: a row of weights over the tokens for each head."""
        weights = self._style().weigh(spectrogram(Path(recording), self.model.config.audio))
        return style_map(weights.detach(), Path(recording).name)

    def parts(self, text: str) -> list[str]:
        """A text in sentences, and in clauses or words where a sentence is long or has marks the voice cannot read."""
        parts = [part for sentence in _SENTENCE.findall(text) for part in self._clauses(sentence)]
        if not parts:
            raise DataError("there is nothing to say: the text is empty")
        return [piece for part in parts for piece in self._pieces(part)]

    def _clauses(self, sentence: str) -> list[str]:
        """Marks outside the alphabet become pauses; those inside it are left to the voice."""
        known = set(self.letters.alphabet)
        if any(mark in sentence and mark not in known for mark in ",;:—"):
            clauses = _CLAUSE.findall(sentence)
        else:
            clauses = [sentence]
        unread = "".join(mark for mark in _MARKS if mark not in known or mark.isspace())
        return [clause for clause in (clause.strip(unread) for clause in clauses) if clause]

    def _pieces(self, part: str) -> list[str]:
        """Words together as long as they fit."""
        self.letters.ids(part)  # the whole part, so that an error can say where
        if len(self.letters.ids(part)) <= _MOST_LETTERS:
            return [part]
        pieces: list[str] = []
        for word in part.split():
            longer = f"{pieces[-1]} {word}" if pieces else word
            if pieces and len(self.letters.ids(longer)) <= _MOST_LETTERS:
                pieces[-1] = longer
            else:
                pieces += [word[start : start + _MOST_LETTERS] for start in range(0, len(word), _MOST_LETTERS)]
        return pieces

    # ----- style

    def weights(self, style: str | Path | AttentionMap | None = None, tokens: Tokens | None = None) -> Tensor | None:
        """(heads, tokens) that a style and tokens set by hand come to; None for a voice without style."""
        if self.model.style is None:
            if style is not None or tokens:
                self._style()
            return None
        if style is None:
            base = self.model.style.mean.clone()
        else:
            chosen = style if isinstance(style, AttentionMap) else self.style(style)
            base = torch.from_numpy(chosen.weights[0, :, 0].copy())
        if base.shape != self.model.style.mean.shape:
            raise ConfigError(f"a style of {tuple(base.shape)} heads and tokens is of another voice than {self.path}")
        return base if not tokens else set_tokens(base, tokens)

    def _style(self) -> Style:
        if self.model.style is None:
            raise ConfigError(f"{self.path}: this voice was trained without style tokens")
        return self.model.style

    # ----- sound

    def _speak(self, parts: Sequence[str], weights: Tensor | None) -> Iterator[tuple[str, list[int], SynthesizedMel]]:
        ids = [self.letters.ids(part) for part in parts]
        for first in range(0, len(parts), _AT_ONCE):
            some = ids[first : first + _AT_ONCE]
            style = None if weights is None else weights.expand(len(some), -1, -1)
            utterances = self.model.speak(padded_ids(some), style)
            yield from zip(parts[first : first + _AT_ONCE], some, utterances, strict=True)

    def _joined(
        self, text: str, spoken: Sequence[tuple[str, list[int], SynthesizedMel]], weights: Tensor | None
    ) -> Speech:
        config = self.model.config.audio
        pause = np.zeros(int(_PAUSE * config.rate), dtype=np.float32)
        sounds: list[NDArray[np.float32]] = []
        mels: list[NDArray[np.float32]] = []
        for _, _, utterance in spoken:
            sounds += [pause] if sounds else []
            mels += [np.zeros((len(pause) // config.hop, config.mels), dtype=np.float32)] if mels else []
            sounds.append(audio.griffin_lim(utterance.mel, config))
            mels.append(utterance.mel.numpy())
        alignment = joined([self._alignment(ids, utterance) for _, ids, utterance in spoken])
        assert alignment is not None
        return Speech(
            samples=np.concatenate(sounds),
            rate=config.rate,
            alignment=alignment,
            style=None if weights is None else style_map(weights, "style"),
            mel=np.concatenate(mels),
            text=text,
            stopped=all(utterance.stopped for _, _, utterance in spoken),
        )

    def _alignment(self, ids: Sequence[int], utterance: SynthesizedMel) -> AttentionMap:
        step = self.model.config.reduction / self.model.config.audio.frames_per_second
        rows = tuple(f"{number * step:.2f} s" for number in range(len(utterance.weights)))
        nothing = ((0, 0),) * len(rows)
        target = Side("", rows, nothing, (None,) * len(rows))
        return AttentionMap(letters_side(self.letters, ids), target, "cross", utterance.weights.numpy()[None, None])


def letters_side(letters: Letters, ids: Sequence[int]) -> Side:
    """The axis of letters; the letters of a Hangul syllable share its place in the text."""
    symbols, text = letters.symbols(ids), letters.show(ids)
    spans: list[tuple[int, int]] = []
    for place, character in enumerate(text):
        many = 1 if character in symbols else len(decompose(character))
        spans += [(place, place + 1)] * many
    ends = len(symbols) - len(spans)  # the end mark stands for no text
    spans += [(len(text), len(text))] * ends
    return Side(text, tuple(symbols), tuple(spans), words_of(text, spans))


def style_map(weights: Tensor, name: str) -> AttentionMap:
    """(heads, tokens) as a map of one row."""
    many = weights.size(1)
    tokens = Side("", tuple(f"token {number}" for number in range(many)), ((0, 0),) * many, (None,) * many)
    return AttentionMap(tokens, Side("", (name,), ((0, 0),), (None,)), "cross", weights.numpy()[None, :, None])


def set_tokens(base: Tensor, tokens: Tokens) -> Tensor:
    """(heads, tokens) with some set; the others keep their proportions and share the rest."""
    heads, many = base.shape
    chosen_weights = torch.full_like(base, -1.0)
    for name, weight in tokens.items():
        chosen = range(heads) if isinstance(name, int) else [name[0]]
        token = name if isinstance(name, int) else name[1]
        if not 0 <= token < many:
            raise ConfigError(f"there is no token {token}; this voice has tokens 0 to {many - 1}")
        if not 0 <= chosen[0] < heads:
            raise ConfigError(f"there is no head {chosen[0]}; this voice has heads 0 to {heads - 1}")
        if not 0 <= weight <= 1:
            raise ConfigError(f"token {token} = {weight}; a weight lies in 0 to 1")
        for head in chosen:
            chosen_weights[head, token] = weight
    fixed = chosen_weights >= 0
    total = torch.where(fixed, chosen_weights, 0.0).sum(dim=1, keepdim=True)
    if float(total.max()) > 1 + 1e-6:
        raise ConfigError(f"the weights of the tokens sum to {float(total.max()):g}; in each head at most 1")
    others = base.masked_fill(fixed, 0.0) + 1e-9
    others = others.masked_fill(fixed, 0.0)
    share = others.sum(dim=1, keepdim=True)
    if bool(((share == 0) & (total < 1 - 1e-6)).any()):
        raise ConfigError("all tokens are set, so their weights must sum to 1")
    return torch.where(fixed, chosen_weights, others * (1 - total) / share.clamp(min=1e-12))
