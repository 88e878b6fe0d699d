"""Views in a real browser: nothing is wider than the page, charts are drawn, dark mode is dark."""

import html
import json
import re
import shutil
import subprocess

import pytest

from paddle_jax import views
from tests.views.test_views import VALUES

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=800,900",
    "--dump-dom",
]
LOOKS = """<pre id="seen"></pre><script>
document.querySelectorAll("details").forEach(d => d.open = true);
const light = color => color.match(/[0-9.]+/g).slice(0, 3).reduce((sum, c) => sum + Number(c), 0) / 3;
const look = view => {
  const style = getComputedStyle(view), own = view.getBoundingClientRect();
  const wide = [...view.querySelectorAll("div, span, details, summary, svg, pre")].filter(
    e => !e.parentElement.closest(".box, svg, pre") && e.getBoundingClientRect().right > own.right + 1);
  const drawn = [...view.querySelectorAll("svg")].map(e => {
    const inside = [...e.querySelectorAll("rect, path")].map(p => p.getBoundingClientRect());
    const frame = e.getBoundingClientRect();
    return inside.length > 0 && inside.every(b => b.width + b.height > 0 &&
      b.left > frame.left - 2 && b.right < frame.right + 2 && b.bottom < frame.bottom + 2);
  });
  return {name: view.parentElement.id, width: own.width, back: light(style.backgroundColor),
    text: light(style.color), wide: wide.map(e => e.tagName + ": " + e.textContent.slice(0, 60)), drawn,
    tables: view.querySelectorAll("table").length, folds: view.querySelectorAll("details > summary").length};
};
const found = [...document.querySelectorAll(".paddle-jax-view")].map(look);
document.getElementById("seen").textContent = JSON.stringify(
  {found, page: document.documentElement.scrollWidth, outside: getComputedStyle(document.body).color});
</script>"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """What a browser finds in all views, in light and in dark mode."""
    folder = tmp_path_factory.mktemp("views")
    parts = [f'<div id="{name}">{views.html(make())}</div>' for name, (make, _) in VALUES.items()]
    path = folder / "page.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{''.join(parts)}{LOOKS}", encoding="utf-8")
    found = {}
    for mode, more in {"light": [], "dark": ["--blink-settings=preferredColorScheme=0"]}.items():
        done = subprocess.run(
            [BROWSER, *OPTIONS, *more, f"--user-data-dir={folder / mode}", path.as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
        )
        seen = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
        assert seen and seen[1], done.stderr[-2000:]
        found[mode] = json.loads(html.unescape(seen[1]))
    return found


@pytest.mark.skipif(BROWSER is None, reason="there is no chromium on PATH")
def test_views_in_a_browser(pages):
    page = pages["light"]
    assert page["page"] <= 800 and page["outside"] == "rgb(0, 0, 0)"
    seen = {each["name"]: each for each in page["found"]}
    assert list(seen) == list(VALUES)
    assert {name: each["wide"] for name, each in seen.items() if each["wide"]} == {}
    assert all(300 < each["width"] <= 800 for each in seen.values())
    assert [name for name, each in seen.items() if not all(each["drawn"])] == []
    counts = {name: (len(e["drawn"]), e["tables"], e["folds"]) for name, e in seen.items()}
    assert counts["Parameter"] == (1, 0, 1)
    assert counts["scheduler"] == (1, 0, 0)
    assert counts["state"] == (0, 1, 0)
    assert counts["mesh"] == (1, 0, 0) and counts["mesh of three"] == (2, 0, 0)
    assert counts["Layer"] == (0, 0, 1)
    assert counts["function"] == (0, 3, 2)
    assert counts["Program"] == (1, 1, 3)
    assert counts["Profiler"] == (1, 7, 7)


@pytest.mark.skipif(BROWSER is None, reason="there is no chromium on PATH")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_modes(pages, mode):
    for each in pages[mode]["found"]:
        difference = each["back"] - each["text"]
        assert difference > 100 if mode == "light" else difference < -100, each["name"]
