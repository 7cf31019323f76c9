"""How texts are dealt to the workers; that they say the same as one process is tested with the command."""

import pytest

from seq2see.session.bulk import _chunks
from seq2see.session.translation import Request


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(0, []), (1, [1]), (2, [1, 1]), (7, [4, 3]), (10, [5, 5]), (13, [5, 5, 3]), (21, [5, 5, 5, 5, 1])],
)
def test_of_few_texts_every_worker_gets_its_share(count: int, sizes: list[int]) -> None:
    requests = [Request(str(number)) for number in range(count)]
    found = list(_chunks(iter(requests), workers=2, chunk=5))
    assert [len(chunk) for chunk in found] == sizes
    assert [request for chunk in found for request in chunk] == requests
