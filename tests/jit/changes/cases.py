"""The list of cases, which the modules beside this one fill."""

import dataclasses

CASES = {}


def noted(name, make):
    """Notes `make() -> (function of x, change)` under a name."""
    CASES[name] = make


def case(make):
    """Notes it under the name of the function."""
    noted(make.__name__, make)
    return make


class Box:
    """A plain object."""

    def __init__(self, **values):
        self.__dict__.update(values)


@dataclasses.dataclass
class Config:
    scale: float = 2.0
