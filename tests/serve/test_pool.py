"""The queue and the model processes behind it: order, batches, death, deadlines, cancelling."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from stand_in_host import EN_ES, KO_EN, broken_host, make_host

from seq2see.serve.api.requests import BeamRequest, SearchOptions, TextJob
from seq2see.serve.http.refusal import Failed, Overloaded, Refusal, Starting, TooLate, WorkerDied
from seq2see.serve.workers import pool as pools
from seq2see.serve.workers.cache import AnswerCache, answer_key
from seq2see.serve.workers.pool import Pool
from seq2see.serve.workers.queue import BATCH_COST, BATCH_JOBS, IN_A_ROW, Lane, Waiting, WaitingLine

PLAIN = SearchOptions()
Value = TypeVar("Value")


def jobs(*texts: str) -> list[TextJob]:
    return [TextJob(text) for text in texts]


def in_thread(work: Coroutine[Any, Any, Value]) -> Value:
    """In a thread of its own: a browser of other tests may keep an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def with_pool(work: Callable[[Pool], Awaitable[Any]], workers: int = 1, log: Path | None = None) -> Any:
    """What `work` gives back, with a pool that has started."""

    async def main() -> Any:
        pool = Pool(partial(make_host, (KO_EN, EN_ES), log), workers)
        pool.start()
        try:
            await pool.started()
            return await work(pool)
        finally:
            await pool.close()
            assert all(slot.process is None for slot in pool.slots)

    return in_thread(main())


# ----- the line alone


def waiting(
    line: WaitingLine, name: str, lane: Lane = "interactive", key: str | None = "run", cost: int = 10
) -> Waiting:
    job = Waiting(name, None if key is None else (key, PLAIN), cost, lane, asyncio.get_running_loop().create_future())
    line.add(job)
    return job


def taken(line: WaitingLine, times: int) -> list[list[str]]:
    return [[job.payload for job in line._next()] for _ in range(times)]


def in_loop(check: Callable[[WaitingLine], None]) -> None:
    async def main() -> None:
        check(WaitingLine())

    in_thread(main())


def test_a_batch_is_of_one_run_and_one_search_and_leaves_the_others_in_order() -> None:
    def check(line: WaitingLine) -> None:
        for name, key in (("a", "x"), ("b", "y"), ("c", "x"), ("d", None), ("e", "y"), ("f", "x")):
            waiting(line, name, key=key)
        assert taken(line, 4) == [["a", "c", "f"], ["b", "e"], ["d"], []]

    in_loop(check)


def test_a_batch_is_full_by_cost_and_by_count() -> None:
    def check(line: WaitingLine) -> None:
        for number in range(4):
            waiting(line, f"long {number}", cost=BATCH_COST // 2)
        assert taken(line, 2) == [["long 0", "long 1"], ["long 2", "long 3"]]
        waiting(line, "longer than any batch", cost=9 * BATCH_COST)
        assert taken(line, 1) == [["longer than any batch"]]
        for number in range(BATCH_JOBS + 1):
            waiting(line, str(number), cost=1)
        assert [len(batch) for batch in taken(line, 2)] == [BATCH_JOBS, 1]

    in_loop(check)


def test_interactive_goes_first_and_bulk_is_not_starved() -> None:
    def check(line: WaitingLine) -> None:
        for number in range(10):
            waiting(line, f"i{number}", key=None)
            waiting(line, f"b{number}", "bulk", key=None)
        order = [batch[0] for batch in taken(line, 10)]
        assert order == ["i0", "i1", "i2", "i3", "b0", "i4", "i5", "i6", "i7", "b1"]
        assert IN_A_ROW == 4

    in_loop(check)


def test_what_nobody_waits_for_is_not_taken() -> None:
    def check(line: WaitingLine) -> None:
        first, second, third = (waiting(line, name) for name in "abc")
        first.future.cancel()
        third.future.cancel()
        assert taken(line, 2) == [["b"], []]
        assert not second.abandoned
        assert len(line) == 0

    in_loop(check)


def test_bulk_waits_for_everything_and_interactive_for_little_of_it() -> None:
    def check(line: WaitingLine) -> None:
        waiting(line, "i", cost=100)
        waiting(line, "b", "bulk", cost=10_000)
        assert line.cost_before("bulk") == 10_100
        assert line.cost_before("interactive") == 125

    in_loop(check)


# ----- with processes


def test_texts_are_translated_in_order_and_share_batches(tmp_path: Path) -> None:
    async def work(pool: Pool) -> list[list[dict[str, Any]]]:
        blocking = asyncio.create_task(pool.translate("en-es", jobs("sleep 0.3"), PLAIN))
        await asyncio.sleep(0.1)
        calls = [pool.translate("en-es", jobs(f"a{number}", f"b{number}"), PLAIN) for number in range(5)]
        results = await asyncio.gather(*calls)
        await blocking
        return results

    log = tmp_path / "log"
    results = with_pool(work, log=log)
    assert [[value["text"] for value in values] for values in results] == [[f"A{n}", f"B{n}"] for n in range(5)]
    assert log.read_text().splitlines() == ["sleep 0.3", "a0 | b0 | a1 | b1 | a2 | b2 | a3 | b3 | a4 | b4"]


def test_what_was_said_before_is_not_asked_again(tmp_path: Path) -> None:
    async def work(pool: Pool) -> int:
        for _ in range(3):
            assert [value["text"] for value in await pool.translate("en-es", jobs("a", "b"), PLAIN)] == ["A", "B"]
        await pool.translate("en-es", jobs("a"), SearchOptions(nbest=2))
        await pool.translate("ko-en", jobs("a"), PLAIN)
        return pool.figures.cached

    log = tmp_path / "log"
    assert with_pool(work, log=log) == 4
    assert log.read_text().splitlines() == ["a | b", "a", "a"]


def test_one_bad_text_of_a_batch_is_refused_alone() -> None:
    async def work(pool: Pool) -> list[Any]:
        blocking = asyncio.create_task(pool.translate("en-es", jobs("sleep 0.2"), PLAIN))
        await asyncio.sleep(0.05)
        texts = ("a", "refuse", "b", "fail", "c")
        results = await asyncio.gather(
            *(pool.translate("en-es", jobs(text), PLAIN) for text in texts), return_exceptions=True
        )
        await blocking
        return results

    first, refused, second, failed, third = with_pool(work)
    assert [first[0]["text"], second[0]["text"], third[0]["text"]] == ["A", "B", "C"]
    assert type(refused) is Refusal
    assert str(refused) == "this one cannot be done"
    assert type(failed) is Failed


def test_a_text_that_kills_two_workers_is_refused_and_the_others_of_its_batch_are_answered() -> None:
    async def work(pool: Pool) -> tuple[list[Any], int]:
        blocking = asyncio.create_task(pool.translate("en-es", jobs("sleep 0.2"), PLAIN))
        await asyncio.sleep(0.05)
        texts = ("a", "die", "b")
        results = await asyncio.gather(
            *(pool.translate("en-es", jobs(text), PLAIN) for text in texts), return_exceptions=True
        )
        await blocking
        return results, pool.figures.restarts

    (first, died, second), restarts = with_pool(work)
    assert [first[0]["text"], second[0]["text"]] == ["A", "B"]
    assert type(died) is WorkerDied
    assert died.status == 500
    assert restarts == 3  # with the others, and twice alone


def test_a_worker_that_is_killed_while_idle_costs_nobody_anything() -> None:
    async def work(pool: Pool) -> str:
        process = pool.slots[0].process
        assert process is not None
        process.process.kill()
        while pool.slots[0].process is process:
            await asyncio.sleep(0.01)
        return str((await pool.translate("en-es", jobs("a"), PLAIN))[0]["text"])

    assert with_pool(work) == "A"


def test_workers_that_die_all_the_time_are_replaced_with_pauses_but_before_anybody_s_deadline() -> None:
    pool = in_thread(_idle_pool())
    assert [pool._pause() for _ in range(8)] == [0.0] * pools.RESTARTS[0] + [pools.PAUSE] * 3
    assert pool.figures.restarts == 8
    pool._restarts.extend([-100.0] * pools.RESTARTS[0])  # long ago
    assert pool._pause() == 0.0
    assert 2 * pools.PAUSE < pools.DEADLINE


async def _idle_pool() -> Pool:
    return Pool(broken_host, 1)


def test_a_worker_that_is_killed_again_and_again_loses_no_text() -> None:
    """As often as that no text dies alone twice; a batch that somebody else kills is nobody's fault."""

    async def work(pool: Pool) -> tuple[list[Any], int]:
        calls = [asyncio.create_task(pool.translate("en-es", jobs(f"sleep 0.05 {n}"), PLAIN)) for n in range(12)]
        for _ in range(4):
            slot = pool.slots[0]
            while not (slot.loaded and slot.batch):
                await asyncio.sleep(0.01)
            process = slot.process
            assert process is not None
            process.process.kill()
            while slot.process is process:
                await asyncio.sleep(0.01)
        return await asyncio.gather(*calls), pool.figures.restarts

    values, restarts = with_pool(work)
    assert [value["text"] for (value,) in values] == [f"SLEEP 0.05 {n}" for n in range(12)]
    assert restarts == 4


def test_nothing_is_accepted_while_no_worker_can_be_there_in_time() -> None:
    async def work(pool: Pool) -> tuple[float, dict[str, str]]:
        slot = pool.slots[0]
        slot.loaded, slot.expected = False, time.monotonic() + 3
        soon = pool.estimated_wait("interactive")
        slot.expected += 20
        with pytest.raises(Overloaded) as refused:
            await pool.translate("en-es", jobs("a"), PLAIN)
        return soon, refused.value.headers

    soon, headers = with_pool(work)
    assert 2 < soon < 4
    assert 10 < int(headers["Retry-After"]) < 24


def test_waiting_past_the_deadline_is_504_and_leaves_the_queue() -> None:
    async def work(pool: Pool) -> tuple[Any, int]:
        blocking = asyncio.create_task(pool.translate("en-es", jobs("sleep 0.5"), PLAIN))
        await asyncio.sleep(0.05)
        with pytest.raises(TooLate) as late:
            await pool.translate("en-es", jobs("a"), PLAIN, seconds=0.05)
        left = len(pool.line)
        await blocking
        return late.value.status, left

    assert with_pool(work) == (504, 0)


def test_who_hangs_up_frees_the_worker_at_once() -> None:
    async def work(pool: Pool) -> float:
        loop = asyncio.get_running_loop()
        gone = asyncio.create_task(pool.translate("en-es", jobs("sleep 60"), PLAIN))
        await asyncio.sleep(0.1)
        start = loop.time()
        gone.cancel()
        await pool.translate("en-es", jobs("a"), PLAIN)
        assert pool.figures.cancelled == 1
        assert pool.calls == 0
        return loop.time() - start

    assert with_pool(work) < 5


def test_a_batch_goes_on_as_long_as_one_waits_for_it() -> None:
    async def work(pool: Pool) -> str:
        blocking = asyncio.create_task(pool.translate("en-es", jobs("sleep 0.2"), PLAIN))
        await asyncio.sleep(0.05)
        stays = asyncio.create_task(pool.translate("en-es", jobs("sleep 0.3 and stay"), PLAIN))
        goes = asyncio.create_task(pool.translate("en-es", jobs("b"), PLAIN))
        await blocking
        await asyncio.sleep(0.05)
        goes.cancel()
        return str((await stays)[0]["text"])

    assert with_pool(work) == "SLEEP 0.3 AND STAY"


def test_too_much_is_refused_with_the_seconds_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(pool: Pool) -> tuple[int, dict[str, str]]:
        blocking = asyncio.create_task(pool.translate("en-es", jobs("sleep 1"), PLAIN))
        await asyncio.sleep(0.05)
        pool.rate = 10.0
        queued = asyncio.create_task(pool.translate("en-es", jobs("x" * 200), PLAIN))
        await asyncio.sleep(0.01)
        with pytest.raises(Overloaded) as refused:
            await pool.translate("en-es", jobs("a"), PLAIN)
        queued.cancel()
        blocking.cancel()
        return refused.value.status, refused.value.headers

    status, headers = with_pool(work)
    assert status == 429
    assert int(headers["Retry-After"]) >= 10


def test_a_question_is_answered_by_itself(tmp_path: Path) -> None:
    async def work(pool: Pool) -> dict[str, Any]:
        return await pool.answer(BeamRequest(run="en-es", text="abc"))

    log = tmp_path / "log"
    assert with_pool(work, log=log) == {"text": "ABC"}
    assert log.read_text() == "question abc\n"


def test_before_the_models_are_loaded_it_is_503_and_what_is_taken_while_stopping_is_answered() -> None:
    async def main() -> tuple[int, str]:
        pool = Pool(partial(make_host, (EN_ES,), None, 0.3), 1)
        pool.start()
        try:
            assert not pool.ready
            with pytest.raises(Starting) as refused:
                await pool.translate("en-es", jobs("a"), PLAIN)
            await pool.started()
            assert pool.ready
            pool.draining = True
            assert not pool.ready
            (answer,) = await pool.translate("en-es", jobs("a"), PLAIN)
            return refused.value.status, answer["text"]
        finally:
            await pool.close()

    assert in_thread(main()) == (503, "A")


def test_a_run_that_cannot_be_loaded_is_said() -> None:
    async def main() -> str:
        pool = Pool(broken_host, 1)
        pool.start()
        try:
            with pytest.raises(Refusal) as refused:
                await pool.started()
            return str(refused.value)
        finally:
            await pool.close()

    assert in_thread(main()) == "runs/ko-en: damaged"


# ----- the cache


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    cache, answer = AnswerCache(), {"text": "a" * 1000, "words": [["a", 1]]}
    cache.put(b"k0", answer)
    cache = AnswerCache(limit=3 * cache.size + 10)
    for number in range(3):
        cache.put(b"k%d" % number, answer)
    assert cache.get(b"k0") == answer
    cache.put(b"k3", answer)
    assert [cache.get(b"k%d" % number) is not None for number in range(4)] == [True, False, True, True]
    cache.put(b"k3", answer)
    assert cache.size <= cache.limit
    cache.put(b"large", {"text": "a" * 100_000})
    assert len(cache) == 0
    assert cache.size == 0


def test_what_is_asked_has_a_key_of_its_own() -> None:
    """Equal questions share one; any difference makes another. Half a surrogate pair is no obstacle."""
    asked = [(TextJob(text), SearchOptions(beam=beam)) for text in ("a", "b", "\ud800") for beam in (1, 2)]
    keys = {answer_key(run, *question) for run in ("ko-en", "en-ko") for question in asked}
    assert len(keys) == 12
    assert answer_key("ko-en", TextJob("a"), SearchOptions(beam=1)) in keys


def test_the_cache_gives_the_garbage_collector_nothing_to_walk_through() -> None:
    cache = AnswerCache()
    gc.collect()
    before = len(gc.get_objects())
    for number in range(1000):
        cache.put(answer_key("ko-en", TextJob(str(number))), {"text": "a", "words": [["a", 1]]})
    gc.collect()
    assert len(gc.get_objects()) - before < 100
