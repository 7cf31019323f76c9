"""Why a request is not answered, each with its HTTP status.

    Refusal                 400  the request itself: says what is wrong with it
    ├── NoKey               400  a key is needed, and none was given
    ├── WrongKey            403
    ├── Forbidden           403
    ├── NotFound            404
    ├── TooSlow             408
    ├── TooLarge            413
    ├── Overloaded          429  with the seconds after which to try again
    ├── Failed              500
    ├── WorkerDied          500  the model process ended twice while it had this text
    ├── Starting            503  models are being loaded
    └── TooLate             504  it waited past its deadline

Weblate locks a service out for half an hour after one 401, 403, 429 or 503: waiting comes before refusing, and what
waited too long gets 504.
"""

from math import ceil

from seq2see.errors import Seq2SeeError


class Refusal(Seq2SeeError):  # noqa: N818  # what each is called says it
    """The text is for whoever asked; it never holds what they sent, but for names of fields and languages."""

    status = 400

    @property
    def headers(self) -> dict[str, str]:
        return {}


class NoKey(Refusal):
    """A key is needed, and none was given."""

    def __init__(self) -> None:
        super().__init__("Please contact the server operator to get an API key")


class WrongKey(Refusal):
    """A key that nobody was given."""

    status = 403

    def __init__(self) -> None:
        super().__init__("Invalid API key")


class Forbidden(Refusal):
    """Switched off, or asked for from a place that may not."""

    status = 403


class NotFound(Refusal):
    """Nothing is there."""

    status = 404


class TooSlow(Refusal):
    """A body that does not come."""

    status = 408

    @property
    def headers(self) -> dict[str, str]:
        return {"Connection": "close"}


class TooLarge(Refusal):
    """A body of more bytes than are read."""

    status = 413

    @property
    def headers(self) -> dict[str, str]:
        return {"Connection": "close"}


class Overloaded(Refusal):
    """More than can be done in time."""

    status = 429

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(max(1, ceil(self.seconds)))}


class WorkerDied(Refusal):
    """The model process ended while it had this, and so did the next one."""

    status = 500


class Failed(Refusal):
    """A mistake of ours in a model process; its log has the traceback."""

    status = 500


class Starting(Refusal):
    """Models are being loaded."""

    status = 503

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": "5"}


class TooLate(Refusal):
    """It waited past its deadline."""

    status = 504
