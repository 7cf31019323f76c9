"""Clients that are installed when this is run, each in a folder of its own: three of npm, and `translate` of PyPI."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from live_server import CONFIG, LiveServer, live_server
from test_guard import SECRET

NODE, NPM = shutil.which("node"), shutil.which("npm")
needs_npm = pytest.mark.skipif(NODE is None or NPM is None, reason="no node on this machine")
PACKAGES = ("libretranslate@1.0.1", "libretranslate-ts@0.5.12", "translate@3.1.0")


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    (folder / "package.json").write_text("{}")
    install = [NPM or "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot be installed here: {done.stderr[-300:]}")
    return folder


def told_by_node(folder: Path, script: str, *arguments: str) -> object:
    """What a module writes as JSON; proxies of the machine are not asked."""
    (folder / "script.mjs").write_text(script)
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    done = subprocess.run(
        [NODE or "node", "script.mjs", *arguments], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.slow
@needs_npm
def test_libretranslate_of_npm(modules: Path, served: LiveServer) -> None:
    """Asks which languages there are first; its key is a field that nobody knows."""
    script = """
import { translate } from "libretranslate";
const apiurl = process.argv[2];
const found = [await translate({ query: "hello", source: "en", target: "es", apiurl })];
found.push(await translate({ query: "안녕하세요", target: "en", apiurl }));
const wrong = translate({ query: "a", source: "zz", target: "es", apiurl });
found.push(await wrong.catch((error) => error.message));
console.log(JSON.stringify(found));
"""
    assert told_by_node(modules, script, served.url) == [
        "HELLO",
        "안녕하세요",
        "This language was not found/does not exist.",
    ]


@pytest.mark.slow
@needs_npm
def test_libretranslate_ts(modules: Path, served: LiveServer) -> None:
    """api_key: null; alternatives; /detect with a field more than it needs."""
    script = """
import module from "libretranslate-ts";
const { libreTranslate } = module;
libreTranslate.setApiEndpoint(process.argv[2]);
const languages = await libreTranslate.listLanguages();
const detected = await libreTranslate.detect("안녕하세요");
const made = await libreTranslate.translate("hello", "en", "es", 2);
const refused = await libreTranslate.translate("hello", "zz", "es");
console.log(JSON.stringify([languages[0], detected.language, made, refused.error]));
"""
    first, detected, made, error = told_by_node(modules, script, served.url)  # type: ignore[misc]
    assert first == {"code": "ko", "name": "Korean", "targets": ["en"]}
    assert detected == "ko"
    assert (made["translatedText"], made["alternatives"], made["status"]) == ("HELLO", ["HELLO 1", "HELLO 2"], 200)
    assert error == "zz is not supported"


@pytest.mark.slow
@needs_npm
def test_translate_of_npm(modules: Path, served: LiveServer) -> None:
    script = """
import translate from "translate";
translate.engine = "libre";
translate.url = `${process.argv[2]}/translate`;
translate.key = "any";
const found = [await translate("hello there", { from: "en", to: "es" })];
try { await translate("x", { from: "es", to: "en" }); } catch (error) { found.push("refused"); }
console.log(JSON.stringify(found));
"""
    assert told_by_node(modules, script, served.url) == ["HELLO THERE", "refused"]


@pytest.mark.slow
def test_translate_of_pypi(tmp_path: Path) -> None:
    """It pins an older libretranslatepy; with `autodetect` it asks /detect first."""
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(tmp_path / "packages"), "translate==3.8.1"]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot be installed here: {done.stderr[-300:]}")
    script = """
import sys
from translate import Translator
options = {"provider": "libre", "base_url": f"{sys.argv[1]}/", "secret_access_key": sys.argv[2]}
print(Translator(from_lang="en", to_lang="es", **options).translate("hello there"))
print(Translator(from_lang="autodetect", to_lang="en", **options).translate("안녕하세요"))
"""
    for config, key in ((CONFIG, "any"), (replace(CONFIG, keys=SECRET), "secret")):
        with live_server(config) as live:
            done = subprocess.run(
                [sys.executable, "-c", script, live.url, key],
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(tmp_path / "packages"), "NO_PROXY": "127.0.0.1"},
            )
        assert done.stdout.splitlines() == ["HELLO THERE", "안녕하세요"], done.stderr[-3000:]
