"""Weblate's own client class against a live port: its code, fetched when this is run, with stand-ins around it.

Weblate itself needs a database and a hundred packages; its machinery for LibreTranslate needs Django and ten names.
"""

import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from live_server import CONFIG, live_server
from test_clients import fetched

# What `weblate.machinery.base` asks of the rest of Weblate, as far as this client uses it.
STAND_INS = {
    "checks/utils": """
import re
def highlight_string(text, unit, **options):
    return [(match.start(), match.end(), match[0]) for match in re.finditer(r"%s|{x}", text)]
""",
    "lang/models": "Language = PluralMapper = object\n",
    "utils/errors": "def report_error(*values, **options): pass\n",
    "utils/hash": """
def calculate_dict_hash(value): return hash(str(value))
def calculate_hash(*parts): return hash(parts)
def hash_to_checksum(value): return str(value)
""",
    "utils/requests": """
import requests
def request(method, url, raise_for_status=True, **options): return requests.request(method, url, **options)
""",
    "utils/similarity": "class Comparer: pass\n",
    "utils/site": "def get_site_url(): return 'http://weblate.example/'\n",
    "utils/forms": "from django.forms import URLField as WeblateServiceURLField\n",
}
SCRIPT = """
import sys
import django.conf
django.conf.settings.configure(CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
                               USE_I18N=False)
django.setup()
from weblate.machinery.libretranslate import LibreTranslateTranslation
client = LibreTranslateTranslation({"url": sys.argv[1], "key": ""})
client.validate_settings()
assert client.download_languages() == ["ko", "en", "es"]
texts = [f"number {n}: %s and {{x}}" for n in range(20)]
made = client._translate("en", "es", [(text, None) for text in texts])
assert list(made) == texts
for text in texts:
    (result,) = made[text]
    assert "%s" in result["text"] and "{x}" in result["text"] and "[X" not in result["text"], result
    assert result["text"].startswith("NUMBER"), result
assert not client.is_rate_limited()
try:
    client._translate("en", "ko", [("hello", None)])
except Exception as error:
    assert "is not available as a target language" in str(error), error
else:
    raise AssertionError("en to ko is not served")
assert not client.is_rate_limited()  # a 400 locks nobody out
print("done")
"""


@pytest.mark.slow
def test_weblate_saves_its_settings_and_translates_with_placeholders(tmp_path: Path) -> None:
    (wheel,) = fetched(tmp_path / "wheels", "Weblate==5.14.3")
    packages = tmp_path / "packages"
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(packages), "django>=5.2,<6"]
    if subprocess.run(install, capture_output=True).returncode:
        pytest.skip("Django cannot be installed here")
    for name, text in STAND_INS.items():
        module = packages / "weblate" / f"{name}.py"
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(text)
    with zipfile.ZipFile(wheel) as archive:
        for name in ("base", "forms", "libretranslate", "types"):
            theirs = f"weblate/machinery/{name}.py"
            (packages / theirs).parent.mkdir(exist_ok=True)
            (packages / theirs).write_bytes(archive.read(theirs))
    with live_server(replace(CONFIG, weblate=True)) as live:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, f"{live.url}/"],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(packages)},
        )
    assert done.stdout == "done\n", done.stderr[-3000:]
