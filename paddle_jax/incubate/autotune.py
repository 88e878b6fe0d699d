"""Switches for tuning (`paddle.incubate.autotune`)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

_TOPICS = {
    "kernel": {"enable": bool, "tuning_range": list},
    "layout": {"enable": bool},
    "dataloader": {"enable": bool, "tuning_steps": int},
}


def set_config(config: dict[str, Any] | str | None = None) -> None:
    """Checks settings for tuning. They change nothing: XLA chooses kernels and layouts by itself.

    Args:
        config: dict, or the path of a JSON file, with the keys "kernel", "layout" and "dataloader"; each a
            dict with "enable" (bool), "kernel" also with "tuning_range" (list), "dataloader" with
            "tuning_steps" (int). Default: everything on.
    Example:
        >>> paddle.incubate.autotune.set_config({"kernel": {"enable": True, "tuning_range": [1, 3]}})
    """
    if isinstance(config, str):
        try:
            config = json.loads(Path(config).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            warnings.warn(
                f"set_config: config: {config!r} is not read ({error}); nothing is changed.", stacklevel=2
            )
            return
    for topic, known in _TOPICS.items():
        given = (config or {}).get(topic, {})
        for key, kind in known.items():
            if key in given and not isinstance(given[key], kind):
                warnings.warn(
                    f"set_config: {topic}: {key}: got {type(given[key]).__name__}; "
                    f"it must be {kind.__name__}.",
                    stacklevel=2,
                )


__all__ = ["set_config"]
