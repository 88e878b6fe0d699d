"""Names that count up, such as linear_0 and linear_1, and the record of parameter names in use."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.interrupt_safe import AtomicContext


class UniqueNameGenerator:
    """Counts, per key, how many names were made; `prefix` goes before every name."""

    def __init__(self, prefix: str | bytes | None = None) -> None:
        if isinstance(prefix, bytes):
            self.prefix = prefix.decode()
        else:
            self.prefix: str = prefix or ""
        self.ids: collections.Counter[str] = collections.Counter()

    def __call__(self, key: str) -> str:
        """Returns prefix + key + "_" + number; the number is new for this key."""
        number = self.ids[key]
        self.ids[key] = number + 1
        return f"{self.prefix}{key}_{number}"


class ParameterNameChecker:
    """Remembers the parameter names in use, so that no two parameters get the same one."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, name: str) -> bool:
        """Records `name`; False when it was taken already."""
        if name in self._names:
            return False
        self._names.add(name)
        return True


class _State:
    """The counters and the record in use.

    Attributes:
        generator: UniqueNameGenerator, or a function of the user's.
        checker: ParameterNameChecker.
        static: the pair of static mode, while it is off.
    """

    generator: Callable[[str], str] = UniqueNameGenerator()
    checker = ParameterNameChecker()
    static: tuple[Any, ParameterNameChecker] = (generator, checker)


def generate(key: str) -> str:
    """Returns `key` with a number that has not been used with it.

    Args:
        key: str, e.g. "fc".
    Returns:
        str such as "fc_0"; the next call gives "fc_1".
    Raises:
        TypeError: key is not a str.
    Example:
        >>> with paddle.utils.unique_name.guard():
        ...     [paddle.utils.unique_name.generate("fc") for _ in range(2)]
        ['fc_0', 'fc_1']
    """
    if not isinstance(key, str):
        raise TypeError(f"unique_name.generate: key: got {type(key).__name__}; it must be a str")
    return _State.generator(key)


def save_counts() -> tuple[Any, collections.Counter[str]]:
    """The state of the counters, for `restore_counts`."""
    generator = _State.generator
    return generator, collections.Counter(getattr(generator, "ids", ()))


def restore_counts(saved: tuple[Any, collections.Counter[str]]) -> None:
    """Restores the counters from `save_counts`: the names that were made since are made again."""
    generator, ids = saved
    if isinstance(generator, UniqueNameGenerator):
        generator.ids = ids.copy()


def reserve(name: str) -> None:
    """Records a parameter name.

    Raises:
        ValueError: another parameter has it.
    """
    if not _State.checker.add(name):
        raise ValueError(
            f"parameter name {name!r} is in use; give every parameter its own name, "
            "or build the layers under unique_name.guard()"
        )


def switch(
    new_generator: Any = None,
    new_para_name_checker: Any = None,
) -> tuple[Any, ...]:
    """Replaces the counters and the record of parameter names (by fresh ones by default).

    Args:
        new_generator: a generator that an earlier `switch` returned. Default: one that starts at zero.
        new_para_name_checker: likewise, the record of parameter names.
    Returns:
        The pair that was in use; `switch(*pair)` brings it back.
    Example:
        >>> before = paddle.utils.unique_name.switch(); paddle.utils.unique_name.generate("fc")
        'fc_0'
        >>> _ = paddle.utils.unique_name.switch(*before)
    """
    old = _State.generator, _State.checker
    if new_generator is None:
        _State.generator = UniqueNameGenerator()
    else:
        _State.generator = new_generator
    if new_para_name_checker is None:
        _State.checker = ParameterNameChecker()
    else:
        _State.checker = new_para_name_checker
    return old


def enter_static() -> None:
    """Switches to the counters and the record of static mode."""
    switch(*_State.static)


def leave_static() -> None:
    """Starts dynamic mode with fresh counters and a fresh record."""
    _State.static = switch()


def forget_parameter_names() -> None:
    """Empties the record of parameter names."""
    _State.checker = ParameterNameChecker()


def guard(new_generator: Any = None) -> _Guard:
    """Counts names from zero inside the block.

    Args:
        new_generator: a str that is put before every name made in the block, or a generator from `switch`.
    Raises:
        TypeError: new_generator is neither.
    Example:
        >>> with paddle.utils.unique_name.guard("a_"):
        ...     paddle.utils.unique_name.generate("fc")
        'a_fc_0'
    """
    generator = new_generator
    if isinstance(generator, str | bytes):
        generator = UniqueNameGenerator(generator)
    if generator is not None and not callable(generator):
        raise TypeError(
            f"unique_name.guard: new_generator: got {type(new_generator).__name__}; "
            "it must be a str or a generator"
        )
    names: Any = generator
    return _Guard(names)


class _Guard(contextlib.ContextDecorator, AtomicContext):
    """A block with other counters."""

    def __init__(self, generator: Callable[[str], str] | None) -> None:
        super().__init__()
        self._generator = generator

    def steps(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        if self._generator is None:
            generator = UniqueNameGenerator()
        else:
            generator = self._generator
        enter = [
            (setattr, _State, "generator", generator),
            (setattr, _State, "checker", ParameterNameChecker()),
        ]
        return enter, [
            (setattr, _State, "generator", _State.generator),
            (setattr, _State, "checker", _State.checker),
        ]
