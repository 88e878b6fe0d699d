"""The line that says that the program waits for the compiler.

Unit tests of `_core.base.compile_notice`.
"""

import io
import sys
import time

import pytest

from paddle_jax._core.base import compile_notice
from paddle_jax._core.base.compile_notice import CompileNotice


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self):
        """True."""
        return True


class CellOutput(io.StringIO):
    """The output of a notebook's cell."""

    __module__ = "ipykernel.iostream"


@pytest.fixture(params=[io.StringIO, Terminal, CellOutput])
def make_stream(request, monkeypatch):
    """Makes stderr a file or a terminal, with a notice after no time at all."""
    monkeypatch.setattr(CompileNotice, "is_enabled", True)
    monkeypatch.setattr(compile_notice, "_DELAY", 0.01)

    def make():
        # not in the fixture itself: pytest changes stderr between a fixture and its test
        monkeypatch.setattr(sys, "stderr", request.param())
        return sys.stderr

    return make


def wait_until_shown(notice):
    """Waits for the thread that shows the line."""
    end = time.monotonic() + 30
    while not notice._is_shown and time.monotonic() < end:
        time.sleep(0.01)


def test_a_long_wait_is_shown(make_stream):
    stream = make_stream()
    notice = CompileNotice("to_static")
    notice.begin()
    wait_until_shown(notice)
    notice.end()
    notice.end()
    text = stream.getvalue()
    assert text.startswith("paddle_jax: compiling a to_static function at ")
    assert "test_compile_notice.py:" in text
    if type(stream) is not io.StringIO:
        line, erased, rest = text.split("\r")
        assert erased == " " * len(line) and not rest
    else:
        assert text.count("\n") == 1 and "\r" not in text


def test_a_short_wait_is_not_shown(make_stream, monkeypatch):
    stream = make_stream()
    monkeypatch.setattr(compile_notice, "_DELAY", 60)
    for _ in range(20):
        notice = CompileNotice("segment")
        notice.begin()
        notice.end()
    assert stream.getvalue() == ""


def test_the_flag_hides_it(make_stream, paddle):
    stream = make_stream()
    before = paddle.get_flags("FLAGS_compile_notice")
    try:
        paddle.set_flags({"FLAGS_compile_notice": False})
        notice = CompileNotice("segment")
        notice.begin()
        time.sleep(0.05)
        notice.end()
    finally:
        paddle.set_flags(before)
    assert stream.getvalue() == ""


def test_a_first_call_tells_where(make_stream, paddle, monkeypatch):
    make_stream()
    shown = []
    run_clock = CompileNotice._run_clock
    monkeypatch.setattr(
        CompileNotice, "_run_clock", lambda notice: (run_clock(notice), shown.append(notice._line))
    )

    @paddle.jit.to_static
    def square(x):
        return x * x + 3.25

    assert float(square(paddle.to_tensor(2.0))) == 7.25
    assert any("test_compile_notice.py:" in line for line in shown)
