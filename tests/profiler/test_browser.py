"""The page of a recording in a real browser: what is drawn lies where it belongs, and tells its line
under the pointer."""

import html
import json
import re
import shutil
import subprocess

import pytest

from paddle_jax.profiler.timeline import page

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
    "--window-size=1700,900",
    "--dump-dom",
]
LOOKS = """<pre id="seen"></pre><script>
const boxes = () => [...document.querySelectorAll("rect")].map(r => {
  const b = r.getBoundingClientRect(), told = r.querySelector("title").textContent;
  const under = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
  return {told, x: b.x, y: b.y, width: b.width, height: b.height, under: under ? under.textContent : "",
    fill: getComputedStyle(r).fill};
});
const before = boxes(), links = document.querySelectorAll("a");
const letters = [...document.querySelectorAll("svg text")].map(t => t.textContent);
links[0].click();
const wider = boxes();
links[1].click();
document.getElementById("seen").textContent = JSON.stringify({before, wider, after: boxes(), letters,
  cells: [...document.querySelectorAll("td")].map(c => c.textContent),
  page: document.documentElement.scrollWidth});
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="there is no chromium on PATH")
def test_the_page_in_a_browser(paddle, tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Linear(37, 29), paddle.nn.Tanh())
    net(paddle.ones([2, 37])).sum().backward()
    prof = paddle.profiler.Profiler(scheduler=(1, 4), on_trace_ready=lambda p: None)
    with prof:
        for _ in range(5):
            with paddle.profiler.RecordEvent("mine <&> yours"):
                net(paddle.ones([2, 37])).sum().backward()
                net[0].weight.grad.numpy()
            prof.step()
    path = tmp_path / "page.html"
    path.write_text(page(prof.profiler_result) + LOOKS, encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    text = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text and text[1], done.stdout[-2000:] + done.stderr[-2000:]
    seen = json.loads(html.unescape(text[1]))
    boxes = seen["before"]
    steps = [box for box in boxes if box["told"].startswith("ProfileStep#")]
    assert [box["told"].split()[0] for box in steps] == ["ProfileStep#1", "ProfileStep#2", "ProfileStep#3"]
    left, right = steps[0]["x"], steps[-1]["x"] + steps[-1]["width"]
    assert right > left
    assert all(one["x"] + one["width"] <= two["x"] + 1 for one, two in zip(steps, steps[1:], strict=False))
    ours = [box for box in boxes if "test_browser.py:" in box["told"]]
    assert any(box["told"].startswith("linear ") for box in ours)
    for box in ours:
        assert left - 1 <= box["x"] and box["x"] + box["width"] <= right + 1 and box["y"] > steps[0]["y"]
        assert box["fill"] not in ("rgb(0, 0, 0)", "none") and box["height"] > 10
        if box["width"] > 3:
            assert box["told"] in box["under"]  # the pointer there finds it
    assert any(letters.startswith("mine <") for letters in seen["letters"])
    for box, wide, again in zip(boxes, seen["wider"], seen["after"], strict=True):
        assert abs(wide["width"] - 2 * box["width"]) < 0.1 and abs(again["width"] - box["width"]) < 0.1
    assert "operations in the interpreter" in seen["cells"] and seen["page"] <= 1700
