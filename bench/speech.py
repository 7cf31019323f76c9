"""Speed of a voice on one thread: an update of training, and seconds of speech made in a second.

    python bench/speech.py RUN          a finished voice, such as `seq2see train builtin:espeak --model tacotron` makes

training     an update (forward, backward, no optimiser) on the batches of the end of training; beside it the time that
             its matrix products alone would take at the rate of a 1024^3 product measured in the same run
synthesis    the held-out texts of its corpus, one by one and 16 side by side; the network and Griffin-Lim apart.
             The goal: at least 5 seconds of speech a second, one by one, all included.

The process' own clock, which stands still while other programs have the core.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from seq2see.speech import audio
from seq2see.speech.corpus.recordings import record
from seq2see.speech.corpus.sources import read_corpus
from seq2see.speech.model.task import HeldOut, VoiceTask, padded_ids
from seq2see.speech.synthesis import Voice

GOAL = 5.0


def matmul_rate() -> float:
    """Floating-point operations a second of a large product."""
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    times = []
    for _ in range(8):
        began = time.process_time()
        torch.mm(a, b)
        times.append(time.process_time() - began)
    return 2 * 1024**3 / statistics.median(times)


def training(voice: Voice, run: Path, updates: int) -> dict[str, float]:
    name = voice.config.data.train[0]
    train, _ = read_corpus(name)
    some = train[:: max(1, len(train) // 600)]
    config = voice.model.config
    with tempfile.TemporaryDirectory() as folder:
        recordings = record(
            Path(folder) / "bench.npy",
            some,
            {},
            voice.letters,
            config.audio,
            longest=config.lessons.longest,
            counting=lambda _: None,
        )
    exam = HeldOut(recordings, recordings, [])
    task = VoiceTask(voice.model, recordings, exam, seed=0, samples=run, device=torch.device("cpu"))
    task.plan(1000)
    lessons = [task.batch(rows) for rows in task.everything()[: updates + 1]]
    voice.model.train()
    times, frames = [], 0
    for number, lesson in enumerate(lessons):
        began = time.process_time()
        task.loss(lesson, 0).total.backward()
        voice.model.zero_grad(set_to_none=True)
        if number:  # the first one warms up
            times.append(time.process_time() - began)
            frames += int(lesson.lengths.sum())
    counter = FlopCounterMode(display=False)
    with counter:
        task.loss(lessons[1], 0).total.backward()
    voice.model.zero_grad(set_to_none=True)
    voice.model.eval()
    return {
        "seconds_an_update": statistics.median(times),
        "speech_seconds_a_second": frames / config.audio.frames_per_second / sum(times),
        "share_of_matmul_rate": counter.get_total_flops() / times[0] / matmul_rate(),
    }


def synthesis(voice: Voice, texts: Sequence[str]) -> dict[str, float]:
    voice.speak(texts[0])
    began = time.process_time()
    seconds = sum(voice.speak(text).seconds for text in texts)
    one_by_one = seconds / (time.process_time() - began)
    began = time.process_time()
    together = sum(speech.seconds for speech in voice.speak_all(texts)) / (time.process_time() - began)
    ids = [voice.letters.ids(text) for text in texts]
    began = time.process_time()
    mels = [voice.model.speak(padded_ids([letters]))[0].mel for letters in ids]
    network = time.process_time() - began
    began = time.process_time()
    for mel in mels:
        audio.griffin_lim(mel, voice.model.config.audio)
    return {
        "seconds": seconds,
        "one_by_one": one_by_one,
        "side_by_side": together,
        "network": seconds / network,
        "griffin_lim": seconds / (time.process_time() - began),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the run folder of a voice")
    parser.add_argument("--texts", type=int, default=60, help="how many are said (default 60)")
    parser.add_argument("--updates", type=int, default=12, help="how many are timed (default 12)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    voice = Voice.load(options.run)
    _, held_out = read_corpus(voice.config.data.train[0])
    texts = [held.text for held in held_out if voice.letters.can_spell(held.text)][: options.texts]
    spoken, trained = synthesis(voice, texts), training(voice, options.run, options.updates)
    parameters = sum(np.prod(parameter.shape) for parameter in voice.model.parameters())
    report = {"load": os.getloadavg()[0], "parameters": int(parameters), "synthesis": spoken, "training": trained}
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{int(parameters):,} parameters, one thread, load average {report['load']:.1f}")
    speed = f"{trained['speech_seconds_a_second']:.0f} s of speech a second"
    share = f"{trained['share_of_matmul_rate']:.0%} of the matmul rate"
    print(f"training: {trained['seconds_an_update']:.3f} s an update, {speed}, {share}")
    print(f"synthesis of {len(texts)} texts, {spoken['seconds']:.0f} s of speech; seconds of speech a second:")
    for name in ("one_by_one", "side_by_side", "network", "griffin_lim"):
        print(f"  {name.replace('_', ' '):14}{spoken[name]:8.1f}")
    rate = spoken["one_by_one"]
    verdict = "PASS" if rate >= GOAL else "FAIL"
    print(f"{verdict}  at least {GOAL:.0f} times faster than it is spoken: {rate:.1f}")


if __name__ == "__main__":
    main()
