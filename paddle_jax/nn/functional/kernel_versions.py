"""Whether this version of JAX has the private functions that fused kernels are called by.

JAX may change them in any version. A version that lacks one, or gives one other parameters, gets the plain
formula, and says so once.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import jax

from paddle_jax._core.base.caller_info import user_line

# name in the module -> names of the parameters of a function; None for what is no function
Expected = dict[str, Sequence[str] | None]
_verdicts: dict[str, str | None] = {}


def usable(kernels: str, module: Any, expected: Expected, later: Collection[str] = ()) -> bool:
    """Whether a module has everything that is expected. One warning names what it lacks.

    Args:
        kernels: whose kernels they are, for the warning.
        module: the module; None where it could not be imported.
        expected: what it has to have.
        later: names of parameters that some versions of JAX have beside these, and the caller gives.
    """
    # One look and one warning for each module, not for each call.
    if kernels not in _verdicts:
        lacking = _verdicts[kernels] = _lacking(module, expected, later)
        if lacking is not None:
            warnings.warn(
                f"attention: JAX {jax.__version__} {lacking}, so the fused kernels of {kernels} are not used "
                f"({user_line()}); install a version from 0.10.2 to 0.12 for them",
                stacklevel=2,
            )
    return _verdicts[kernels] is None


def _lacking(module: Any, expected: Expected, later: Collection[str]) -> str | None:
    """What a module lacks, as a predicate; None if nothing."""
    if module is None:
        return "has no module for them"
    for name, parameters in expected.items():
        found = getattr(module, name, None)
        if found is None:
            return f"has no {name}"
        if parameters is None:
            continue
        names = [each for each in inspect.signature(found).parameters if each not in later]
        if names != list(parameters):
            return f"has other parameters of {name}"
    return None
