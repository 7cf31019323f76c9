"""The Swagger 2.0 document that clients of LibreTranslate's protocol ask for."""

from typing import Any

from seq2see import __version__
from seq2see.serve.configuration import ServerConfig


def make_spec(config: ServerConfig) -> dict[str, Any]:
    return {
        "swagger": "2.0",
        "info": {
            "title": config.title,
            "version": __version__,
            "description": "Compatible with the protocol of LibreTranslate.",
        },
        "basePath": "/",
        "consumes": ["application/json", "application/x-www-form-urlencoded"],
        "produces": ["application/json"],
        "paths": {
            "/detect": _post("Detect the language of a text", _field("q"), _field("api_key", needed=False)),
            "/frontend/settings": _get("Settings of the page"),
            "/health": _get("Whether the server lives"),
            "/languages": _get("Languages, and what each can be translated into"),
            "/suggest": _post(
                "Suggest a better translation", _field("q"), _field("s"), _field("source"), _field("target")
            ),
            "/translate": _post(
                "Translate a text, or a list of them",
                _field("q"),
                _field("source"),
                _field("target"),
                _field("format", needed=False),
                _field("alternatives", "integer", needed=False),
                _field("api_key", needed=False),
            ),
            "/translate_file": _post(
                "Translate a file",
                _field("file", "file"),
                _field("source"),
                _field("target"),
                _field("api_key", needed=False),
            ),
        },
    }


def _field(name: str, kind: str = "string", *, needed: bool = True) -> dict[str, Any]:
    return {"in": "formData", "name": name, "type": kind, "required": needed}


def _get(summary: str) -> dict[str, Any]:
    return {"get": {"summary": summary, "responses": {"200": {"description": "OK"}}}}


def _post(summary: str, *fields: dict[str, Any]) -> dict[str, Any]:
    statuses = {"200": "OK", "400": "Invalid request", "403": "Not allowed", "429": "Slow down", "500": "Our mistake"}
    responses = {status: {"description": text} for status, text in statuses.items()}
    return {"post": {"summary": summary, "parameters": list(fields), "responses": responses}}
