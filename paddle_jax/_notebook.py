"""IPython and Jupyter: `%load_ext paddle_jax`, views, and the names of cells in messages.

`import paddle_jax` asks only whether a shell of IPython runs.
"""

from __future__ import annotations

from typing import Any

from paddle_jax import alias
from paddle_jax._core.base import caller_info
from paddle_jax._core.base.notebook_shell import running_shell
from paddle_jax._core.base.traceback_displays import install_in_ipython


def install_where_ipython_runs() -> None:
    """Installs views and names of cells, if the program is a notebook or IPython."""
    shell = running_shell()
    if shell is not None:
        _install(shell)


def _install(shell: Any) -> None:
    # lazy: programs outside IPython do not import views
    from paddle_jax import views

    views.install(shell)
    caller_info.CellNames.of_file = _CellNames(shell).of_file


class _CellNames:
    """The names of a shell's cells.

    Attributes:
        numbers: IPython's dict from the names that codes of cells have as files to the numbers of the cells.
            Its own function for it would count as unobserved code of a function that is compiled.
    """

    def __init__(self, shell: Any) -> None:
        self.numbers: dict[str, int] = getattr(shell.compile, "_filename_map", {})

    def of_file(self, file: str) -> str | None:
        """`In [9]` of the name that the code of cell 9 has as a file; None for files."""
        number = self.numbers.get(file)
        if number is None:
            return None
        return f"In [{number}]"


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext paddle_jax`: `import paddle` means paddle_jax, views show, tracebacks are short.

    Args:
        shell: IPython's shell.
    Raises:
        RuntimeError: the real Paddle is already imported.
    Example:
        >>> # in a notebook, as magic: %load_ext paddle_jax
    """
    alias.install_as_paddle()
    install_in_ipython()
    _install(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Called by `%unload_ext paddle_jax`: takes the views out; `import paddle` stays as it is.

    Args:
        shell: IPython's shell.
    Example:
        >>> # in a notebook, as magic: %load_ext paddle_jax
    """
    # lazy: programs outside IPython do not import views
    from paddle_jax import views

    views.remove(shell)
    caller_info.CellNames.of_file = None
