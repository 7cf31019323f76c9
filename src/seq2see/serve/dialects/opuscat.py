"""The protocol of OPUS-CAT MT Engine, for its plugins in Trados, memoQ, Wordfast and OmegaT; they expect port 8500.

Names of operations and parameters are known in any case, as .NET has it. The plugins always send the token 0, so they
cannot ask a server that wants keys.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from seq2see.serve.dialects.desk import Desk
from seq2see.serve.dialects.texts import translate_texts
from seq2see.serve.http.answering import JsonAnswer
from seq2see.serve.http.reading import first_values, read_fields
from seq2see.serve.http.refusal import NotFound, Refusal


class OpusCat:
    """/MTRestService/OPERATION."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def routes(self) -> list[Route]:
        names = ("MTRestService", "mtrestservice", "MtRestService")
        return [Route(f"/{name}/{{operation}}", self.answer, methods=["GET", "POST"]) for name in names]

    async def answer(self, request: Request) -> Response:
        match request.path_params["operation"].lower():
            case "translatejson" | "translatepost":
                return JsonAnswer({"translation": await self._translated(request)})
            case "translate" | "translateparagraphjson":
                return JsonAnswer(await self._translated(request))
            case "translatestream":
                return PlainTextResponse(await self._translated(request))
            case "listsupportedlanguagepairs":
                return JsonAnswer([f"{source}-{target}" for source, target in self.desk.languages.pairs])
            case "getlanguagepairmodeltags":
                return JsonAnswer([])
            case "login":
                return JsonAnswer("")
            case "checkmodelstatus":
                return JsonAnswer("loaded" if self.desk.pool.ready else "loading")
            case "preorderbatch":
                await request.body()  # translated when it is asked for: the queue keeps nothing that nobody waits for
                return JsonAnswer("batch preordered")
        raise NotFound("no such operation")

    async def _translated(self, request: Request) -> str:
        fields = await read_fields(request)
        values = first_values(
            [(name.lower(), value) for name, value in fields.values.items() if isinstance(value, str)]
        )
        self.desk.admit(request, values.get("tokencode"))
        text = values.get("input", "")
        for name in ("srclangcode", "trglangcode"):
            if not values.get(name):
                raise Refusal(f"{name} is missing")
        self.desk.check_size([text])
        languages = self.desk.languages
        run = languages.run(languages.known(values["srclangcode"]), languages.known(values["trglangcode"]))
        made = await translate_texts(self.desk.pool, run, [text])
        return made[0].text
