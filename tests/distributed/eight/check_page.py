"""The Python of the page on several devices runs as it stands there."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/sharding.md"


def test_snippets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "page.py"  # a file, so that the source of its functions can be read
    script.write_text(
        "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)),
        encoding="utf-8",
    )
    runpy.run_path(str(script))
