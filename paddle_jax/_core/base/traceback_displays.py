"""Hooks of the places that show exceptions: terminals, threads, logging, IPython, pytest.

Each shows the user's frames alone. Nothing runs before an exception is shown.
"""

from __future__ import annotations

import functools
import logging
import sys
import threading
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paddle_jax._core.base.error_translation import RuntimeErrors
from paddle_jax._core.base.hidden_frames import (
    Trimmed,
    count_line,
    is_active,
    report,
    show_trimmed,
    shown_frames,
)
from paddle_jax._core.base.notebook_shell import running_shell
from paddle_jax._core.base.suggestions import suggestion

_Hook = Callable[[type[BaseException], BaseException, types.TracebackType | None], Any]
_MARK = "_hides_frames"  # on functions that were replaced already
_CHECKOUT = Path(__file__).parents[3]  # the folder with the package


def _has_hidden(error: BaseException | None) -> bool:
    """Whether a display of an exception would have a frame that is hidden."""
    if error is None or not is_active():
        return False
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    chain = (error, error.__cause__, error.__context__)
    return any(_has_hidden(member) for member in members) or any(
        found is not None and not all(shown_frames(found.__traceback__)) for found in chain
    )


def _print_report(error: BaseException) -> None:
    """Prints an exception on standard error as Python does, without hidden frames."""
    options: dict[str, Any] = {}
    if sys.version_info >= (3, 13):
        import _colorize  # pyright: ignore[reportMissingImports]  Python's own, which has no public name

        options["colorize"] = _colorize.can_colorize()
    for text in report(error).format(**options):
        print(text, file=sys.stderr, end="")


def show_uncaught(
    previous: _Hook, kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
) -> None:
    """Shows an exception that ends the program.

    Args:
        previous: the hook that was there before.
        kind: class of the exception.
        error: the exception.
        trace: its traceback.
    """
    if not _has_hidden(error) or error.__traceback__ is not trace:
        previous(kind, error, trace)
        return
    if previous is not sys.__excepthook__:
        show_trimmed(error, lambda: previous(kind, error, error.__traceback__))
    else:
        _print_report(error)
        Trimmed(error).restore_chain()
    sys.last_traceback = error.__traceback__  # pdb.pm() begins there


def _show_in_thread(previous: Callable[[Any], Any], arguments: Any) -> None:
    """Shows an exception that ends a thread."""
    error = arguments.exc_value
    if not _has_hidden(error):
        previous(arguments)
        return
    show_trimmed(error, lambda: previous(_with_trimmed(arguments, error)))


def _with_trimmed(arguments: Any, error: BaseException) -> Any:
    """The arguments of a thread's hook with the present traceback of the exception."""
    return threading.ExceptHookArgs((arguments.exc_type, error, error.__traceback__, arguments.thread))


def _format_logged(previous: Callable[..., str], formatter: logging.Formatter, info: Any) -> str:
    """The text that `logging` writes for `exc_info`."""
    error = info[1]
    if not _has_hidden(error) or error.__traceback__ is not info[2]:
        # With another traceback than the error's own nothing is trimmed.
        return previous(formatter, info)
    return "".join(report(error).format()).rstrip("\n")


def _text_of_handled(limit: int | None, chain: bool) -> str | None:
    """What is shown of the exception that is handled, with the user's frames alone; None where Python's own
    text is right: no frame is hidden, or the caller wants a part."""
    error = sys.exception()
    if error is None or limit is not None or not chain or not _has_hidden(error):
        return None
    return "".join(report(error).format())


def _print_handled(
    previous: Callable[..., None], limit: int | None = None, file: Any = None, chain: bool = True
) -> None:
    """What `traceback.print_exc` does, with the user's frames alone."""
    text = _text_of_handled(limit, chain)
    if text is None:
        previous(limit, file, chain)
    else:
        print(text, file=file or sys.stderr, end="")


def _format_handled(previous: Callable[..., str], limit: int | None = None, chain: bool = True) -> str:
    """What `traceback.format_exc` does, with the user's frames alone."""
    text = _text_of_handled(limit, chain)
    return previous(limit, chain) if text is None else text


def _replace_function(owner: Any, name: str, replacement: Callable[..., Any]) -> None:
    """Replaces a function of Python's once; the replacement gets the function before."""
    previous = getattr(owner, name)
    if not hasattr(previous, _MARK):

        @functools.wraps(previous)
        def replaced(*args: Any, **kwargs: Any) -> Any:
            return replacement(previous, *args, **kwargs)

        setattr(replaced, _MARK, True)
        setattr(owner, name, replaced)


def _is_not_raised_here(record: logging.LogRecord) -> bool:
    """Whether a message of JAX is about something else than an exception that reaches the user."""
    return not (is_active() and record.exc_info and RuntimeErrors.pending)


def install() -> None:
    """Sets the hooks; each keeps the one before."""
    sys.excepthook = functools.partial(show_uncaught, sys.excepthook)
    threading.excepthook = functools.partial(_show_in_thread, threading.excepthook)
    _replace_function(logging.Formatter, "formatException", _format_logged)
    _replace_function(traceback, "print_exc", _print_handled)
    _replace_function(traceback, "format_exc", _format_handled)
    logging.getLogger("jax._src.debugging").addFilter(_is_not_raised_here)
    install_in_ipython()
    install_in_pytest()


def install_in_ipython() -> None:
    """Has the shell that runs, if there is one, show the user's frames alone."""
    display = getattr(running_shell(), "InteractiveTB", None)
    if display is None or hasattr(display.structured_traceback, _MARK):
        return
    previous = display.structured_traceback

    @functools.wraps(previous)
    def structured_traceback(
        etype: Any = None, evalue: Any = None, etb: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        if not _has_hidden(evalue) or evalue.__traceback__ is not etb:
            return previous(etype, evalue, etb, *args, **kwargs)
        view = Trimmed(evalue)
        sys.last_traceback = evalue.__traceback__  # %debug begins there
        try:
            lines = list(previous(etype, evalue, evalue.__traceback__, *args, **kwargs))
        finally:
            view.restore_chain()
        if view.hidden:
            lines.insert(_index_of_error(lines, etype), count_line(view.hidden))
        if meant := suggestion(evalue):
            lines.append(meant)  # IPython has none of its own
        return lines

    setattr(structured_traceback, _MARK, True)
    display.structured_traceback = structured_traceback


def _index_of_error(lines: list[str], kind: type[BaseException]) -> int:
    """Where the lines of the error begin, below those of the frames."""
    # From below, since a line of source may have the name, too.
    for index in range(len(lines) - 1, -1, -1):
        if kind.__name__ in lines[index]:
            return index
    return len(lines)


def install_in_pytest() -> None:
    """Has pytest, where it runs, show the frames of the tests alone."""
    pytest = sys.modules.get("pytest")
    for kind in ("Item", "Collector"):
        owner = getattr(pytest, kind, None)
        # the one function that the texts of tests, fixtures and files come from: another pytest may lack it
        if hasattr(owner, "_repr_failure_py"):
            _replace_function(owner, "_repr_failure_py", _show_failed_test)


def _show_failed_test(
    previous: Callable[..., Any], test: Any, failure: Any, *args: Any, **kwargs: Any
) -> Any:
    """What pytest shows of an exception of a test, of a fixture, or of a file of tests.

    All frames are shown for --full-trace, and in the tests of this package.
    """
    error = failure.value
    wants_all = test.config.getoption("fulltrace", False) or test.config.rootpath == _CHECKOUT
    if not wants_all and _has_hidden(error):
        hidden = Trimmed(error).hidden
        if hidden:
            error.add_note(count_line(hidden))
        vars(failure).update(vars(type(failure).from_exception(error)))  # --pdb begins at its last frame
    return previous(test, failure, *args, **kwargs)
