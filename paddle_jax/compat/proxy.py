"""Lets `import torch` give this package: on request only, for all modules or for some of them."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_NAME = "torch"
_TARGET = "paddle_jax"


class ProxyModule(types.ModuleType):
    """A module under PyTorch's name: the one of this package, with the names of its twin in
    paddle.compat before it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        path = name[len(_NAME) :]
        real = importlib.import_module(_TARGET + path)
        try:
            if path:
                twin = importlib.import_module(f"{_TARGET}.compat{path}")
            else:
                twin = None
        except ModuleNotFoundError:
            twin = None
        self.__file__, self.__doc__, self.__path__ = (
            real.__file__,
            real.__doc__,
            getattr(real, "__path__", []),
        )
        self._real = real
        self._twin = twin

    def __getattr__(self, name: str) -> Any:
        # Names that behave as in PyTorch go before those of Paddle.
        if name in getattr(self._twin, "__all__", ()):
            value = getattr(self._twin, name, None)
        else:
            value = getattr(self._real, name)
        if isinstance(value, types.ModuleType) and value.__name__ == f"{self._real.__name__}.{name}":
            value = ProxyModule(f"{self.__name__}.{name}")
        # From now on it is found without `__getattr__`.
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(self._real)


class _Import:
    """Stands in for builtins.__import__ while the proxy is on."""

    def __init__(self, original: Callable[..., Any], scope: Any, blocked: Any) -> None:
        self.original, self.scope, self.blocked, self.top = original, scope, blocked, ProxyModule(_NAME)

    def __call__(
        self,
        name: str,
        globals: dict[str, Any] | None = None,
        locals: dict[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        if (
            level == 0
            and name.partition(".")[0] == _NAME
            and self.concerns((globals or {}).get("__name__", ""))
        ):
            return self.resolve(name, fromlist)
        return self.original(name, globals, locals, fromlist, level)

    def concerns(self, importer: str) -> bool:
        """Whether the module of this name gets the proxy; PyTorch itself never does."""
        return not _within(importer, self.blocked | {_NAME}) and (
            self.scope is None or _within(importer, self.scope)
        )

    def resolve(self, name: str, fromlist: Sequence[str] | None) -> ProxyModule | types.ModuleType:
        module = self.top
        for part in name.split(".")[1:]:
            module = _member(module, part)
        for part in fromlist or ():
            if part != "*" and not hasattr(module, part):
                # `from` may name a submodule; for any other name Python itself raises ImportError.
                with contextlib.suppress(ModuleNotFoundError):
                    _member(module, part)
        # `import torch.nn` binds `torch`.
        if fromlist:
            return module
        return self.top


def _member(module: types.ModuleType, part: str) -> ProxyModule | types.ModuleType:
    """The submodule of a proxy, imported if need be."""
    value = getattr(module, part, None)
    if not isinstance(value, types.ModuleType):
        value = ProxyModule(f"{module.__name__}.{part}")
        setattr(module, part, value)
    return value


def _within(name: str, packages: set[str]) -> bool:
    return any(name == p or name.startswith(p + ".") for p in packages)


def _names(given: Any) -> Any:
    if isinstance(given, str):
        return {given}
    return set(given or ())


def enable_compat(
    *, scope: Any = None, blocked_modules: Any = None, backend: str = "torch", silent: bool = False
) -> None:
    """Makes every later `import torch`, `import torch.x` and `from torch.x import y` give this package, with
    paddle.compat's layers and functions.

    PyTorch itself, if it is there, keeps working for those who have imported it.
    `importlib.import_module("torch")` is not affected.

    Args:
        scope: names of modules (or packages) whose imports are concerned. Default: all.
        blocked_modules: names of those whose imports are not.
        backend: "torch".
        silent: accepted; nothing is printed anyway.
    Raises:
        AssertionError: backend is something else.
    Example:
        >>> paddle.enable_compat()
        >>> import torch
        >>> torch.nn.Linear(2, 3).weight.shape
        paddle.Size([3, 2])
        >>> paddle.disable_compat()
    """
    if backend != "torch":
        raise AssertionError(f"enable_compat: backend: got {backend!r}; allowed is 'torch'")
    # Not one proxy on top of another.
    disable_compat()
    builtins.__import__ = _Import(
        builtins.__import__, None if scope is None else _names(scope), _names(blocked_modules)
    )


def disable_compat() -> None:
    """Ends what `enable_compat` began. Modules that were imported under PyTorch's name stay what they are.

    Example:
        >>> paddle.disable_compat()
    """
    if isinstance(builtins.__import__, _Import):
        builtins.__import__ = builtins.__import__.original


@contextlib.contextmanager
def use_compat_guard(*, enable: bool = True, scope: Any = None, silent: bool = False) -> Iterator[None]:
    """A context in which `enable_compat` (or, with enable=False, `disable_compat`) holds.

    Args:
        enable: whether `import torch` gives this package.
        scope, silent: as for `enable_compat`.
    Returns:
        Context manager.
    Example:
        >>> with paddle.use_compat_guard():
        ...     from torch.nn.functional import linear
        >>> linear is paddle.compat.nn.functional.linear
        True
    """
    before = builtins.__import__
    if enable:
        enable_compat(scope=scope, silent=silent)
    else:
        disable_compat()
    try:
        yield
    finally:
        builtins.__import__ = before
