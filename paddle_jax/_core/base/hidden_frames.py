"""Which frames of a traceback are shown: those of the user's code.

Frames of this package, of JAX and of generated code are hidden below FLAGS_call_stack_level=2. Displays alone
filter: an exception keeps its traceback until a display shows it. docs/design/tracebacks.md has the reasons.
"""

from __future__ import annotations

import os
import sys
import traceback
import types
from collections.abc import Callable, Generator
from pathlib import Path

from paddle_jax._core.base.caller_info import ENGINE, LIBRARIES, PYTHONS, line_name, package_of
from paddle_jax._core.base.error_translation import ErrorDetail
from paddle_jax._core.base.suggestions import suggestion

_FOLDER = str(Path(__file__).parents[2]) + os.sep
_HIDDEN = frozenset((*ENGINE, "malt"))  # malt runs converted code
# libraries of extras, which this package calls for the user
_EXTRAS = (
    "fsspec",
    "orbax",
    "tensorstore",
    "tensorboardX",
    "grpc",
    "onnx",
    "flatbuffers",
    "cloudpickle",
    "PIL",
)
_BELOW = frozenset((*LIBRARIES, *PYTHONS, *_EXTRAS, "ml_dtypes", "opt_einsum", "safetensors"))
_JAX_NOTE = "JAX has removed its internal frames"
_Chain = tuple[BaseException, BaseException | None, BaseException | None, bool]


class FrameReport(traceback.TracebackException):
    """The text of an exception, with a line between the frames and the error.

    Attributes:
        hidden: int, how many frames are left out.
        suggestion: str, what a misspelt name may mean; "" where nothing is near.
    """

    hidden = 0
    suggestion = ""

    def format_exception_only(self, **options: bool) -> Generator[str, None, None]:
        """The lines of the error; the number of hidden frames first."""
        if self.hidden:
            yield count_line(self.hidden) + "\n"
        lines = super().format_exception_only(**options)
        if self.suggestion:
            yield f"{next(lines).rstrip()}. {self.suggestion}\n"
        yield from lines


def is_active() -> bool:
    """Whether frames are hidden at all."""
    return ErrorDetail.level < 2


def count_line(count: int) -> str:
    """The line that stands for hidden frames."""
    if count == 1:
        return "1 frame inside paddle_jax hidden; FLAGS_call_stack_level=2 shows it"
    return f"{count} frames inside paddle_jax hidden; FLAGS_call_stack_level=2 shows them"


def shown_frames(trace: types.TracebackType | None) -> list[bool]:
    """Whether each frame of a traceback is shown, from the outermost one on.

    A library's frame is hidden where this package has called it, and shown where the user's code has.
    """
    shown: list[bool] = []
    caller_is_shown = True
    last_shown = None  # (index, code) of a frame
    while trace is not None:
        code = trace.tb_frame.f_code
        caller_is_shown = _is_shown(trace.tb_frame, caller_is_shown)
        if caller_is_shown:
            # Of the parts of one function only the innermost is shown.
            if last_shown is not None and _is_part_of(code, last_shown[1]):
                shown[last_shown[0]] = False
            last_shown = len(shown), code
        shown.append(caller_is_shown)
        trace = trace.tb_next
    return shown


def _is_part_of(code: types.CodeType, outer: types.CodeType) -> bool:
    """Whether code is a branch or the body of a loop of converted code: one function for its user."""
    same_function = (code.co_qualname, code.co_filename) == (outer.co_qualname, outer.co_filename)
    return same_function and code is not outer and code.co_name != "<lambda>"


def _is_shown(frame: types.FrameType, caller_is_shown: bool) -> bool:
    """Whether a frame is shown, given whether the frame that called it is."""
    name = frame.f_code.co_filename
    package = package_of(frame.f_globals)
    if package in _HIDDEN or name.startswith((_FOLDER, "<frozen")):
        return False
    if package in _BELOW:
        return caller_is_shown
    return True


def trimmed(trace: types.TracebackType | None) -> tuple[types.TracebackType | None, int]:
    """A traceback of the shown frames alone, and how many it leaves out.

    A traceback without any shown frame stays whole.
    """
    shown = shown_frames(trace)
    # Without any frame to show the whole traceback is of use.
    if all(shown) or not any(shown):
        return trace, 0
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    # A traceback holds the next inner one, so it is built from the inside.
    result = None
    for entry, is_shown in zip(reversed(entries), reversed(shown), strict=True):
        if is_shown:
            result = types.TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result, shown.count(False)


def user_source_line(error: BaseException) -> str:
    """`file:line: source` of the innermost shown frame of an exception."""
    frames = traceback.extract_tb(trimmed(error.__traceback__)[0])
    if not frames:
        return "an unknown line"
    return f"{line_name(frames[-1].filename, frames[-1].lineno)}: {frames[-1].line}"


def is_internal(error: BaseException | None) -> bool:
    """Whether this package has raised an exception and caught it: no frame of it is the user's."""
    if error is None or error.__traceback__ is None or isinstance(error, BaseExceptionGroup):
        return False
    return not any(shown_frames(error.__traceback__))


def report(error: BaseException) -> FrameReport:
    """The text of an exception, without hidden frames; the exception stays as it is."""
    view = Trimmed(error)
    try:
        found = FrameReport(type(error), error, error.__traceback__)
    finally:
        view.restore()
    found.hidden = view.hidden
    if sys.version_info < (3, 12):  # later ones find it themselves
        found.suggestion = suggestion(error)
    _drop_empty_marks(found)
    _count_in_members(found, error, view.hidden_of)
    return found


def _count_in_members(
    summary: traceback.TracebackException, error: BaseException, hidden_of: dict[int, int]
) -> None:
    """Adds to each member of a group how many of its frames are hidden."""
    if not isinstance(error, BaseExceptionGroup):
        return
    for part, member in zip(summary.exceptions or (), error.exceptions, strict=False):
        if count := hidden_of.get(id(member)):
            part.__notes__ = [*(part.__notes__ or ()), count_line(count)]
        _count_in_members(part, member, hidden_of)


def format_error(error: BaseException) -> str:
    """An exception as text, without hidden frames."""
    if is_active():
        return "".join(report(error).format())
    return "".join(traceback.format_exception(error))


def frames_as_text(error: BaseException) -> str:
    """The shown frames of an exception, two lines each: without marks and what it is chained to."""
    frames = traceback.extract_tb(trimmed(error.__traceback__)[0])
    return "\n".join(f'  File "{f.filename}", line {f.lineno}, in {f.name}\n    {f.line}' for f in frames)


def is_chained(error: BaseException) -> bool:
    """Whether a display shows other exceptions before this one, or below it."""
    if isinstance(error, BaseExceptionGroup):
        return True
    # As Python's own display decides it.
    shown = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return shown is not None and not is_internal(shown)


def _without_jax_note(notes: list[str]) -> list[str]:
    """The notes of an exception without the one that JAX adds about its frames."""
    return [note for note in notes if _JAX_NOTE not in str(note)]


def _drop_empty_marks(summary: traceback.TracebackException) -> None:
    """Drops columns from frames of converted code, which has none: a line of marks would be empty."""
    frames = [
        traceback.FrameSummary(frame.filename, frame.lineno, frame.name, locals=None, line=frame.line)
        if frame.colno is not None and frame.colno == frame.end_colno
        else frame
        for frame in summary.stack
    ]
    summary.stack = traceback.StackSummary.from_list(frames)
    for other in (summary.__cause__, summary.__context__, *(summary.exceptions or ())):
        if other is not None:
            _drop_empty_marks(other)


class Trimmed:
    """An exception and those it is chained to, with the shown frames alone, for displays that walk them.

    Displays of the exception keep the trimmed tracebacks, so that debuggers stop in the user's frame:
    `restore_chain` links the exceptions again that stayed inside the package. `restore` undoes everything.

    Attributes:
        hidden: int, how many frames of the exception are left out.
        hidden_of: dict from the id of each exception in the chain and in groups to that number.
    """

    def __init__(self, error: BaseException) -> None:
        self.hidden_of: dict[int, int] = {}
        self._chains: list[_Chain] = []
        self._traces: list[tuple[BaseException, types.TracebackType | None]] = []
        self._notes: list[tuple[list[str], list[str]]] = []
        self.hidden = self._trim(error, set())

    def _trim(self, error: BaseException, seen: set[int]) -> int:
        """Trims one exception and its chain; returns how many frames of itself are left out."""
        # A chain of exceptions may be circular.
        seen.add(id(error))
        trace, hidden = trimmed(error.__traceback__)
        self.hidden_of[id(error)] = hidden
        self._traces.append((error, error.__traceback__))
        error.__traceback__ = trace
        notes = getattr(error, "__notes__", None)
        if isinstance(notes, list):
            self._notes.append((notes, [*notes]))
            # In place, so that `restore` can fill the same list.
            notes[:] = _without_jax_note(notes)
        chain = (error, error.__cause__, error.__context__, error.__suppress_context__)
        self._chains.append(chain)
        if is_internal(error.__cause__):
            error.__cause__ = None  # this sets __suppress_context__
        if is_internal(error.__context__):
            error.__context__ = None
        members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        for other in (error.__cause__, error.__context__, *members):
            if other is not None and id(other) not in seen:
                self._trim(other, seen)
        return hidden

    def restore_chain(self) -> None:
        """Links the exceptions as they were."""
        for error, cause, context, suppress in self._chains:
            error.__cause__ = cause
            error.__context__ = context
            error.__suppress_context__ = suppress

    def restore(self) -> None:
        """Makes the exceptions what they were."""
        self.restore_chain()
        for error, trace in self._traces:
            error.__traceback__ = trace
        for notes, before in self._notes:
            notes[:] = before


def show_trimmed(error: BaseException, show: Callable[[], object]) -> None:
    """Has a foreign display show an exception without hidden frames; a note has their number."""
    view = Trimmed(error)
    if view.hidden:
        error.add_note(count_line(view.hidden))
    try:
        show()
    finally:
        view.restore_chain()
        if view.hidden:
            error.__notes__.remove(count_line(view.hidden))
