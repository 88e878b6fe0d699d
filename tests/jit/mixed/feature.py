"""A kind of state: lines of source with `$` for a number of their own and `RND` for a random float."""

import dataclasses

FEATURES = []


@dataclasses.dataclass
class Feature:
    """top: lines of the module. body: pieces of the step, each reads `x` and `y` and assigns `x`. changes:
    statements of the module between calls. watch: expressions that both forms are compared by
    after each call."""

    top: str
    body: tuple
    changes: tuple = ()
    watch: tuple = ()


def feature(top, body, changes=(), watch=()):
    """Notes a Feature."""
    FEATURES.append(Feature(top, tuple(body), tuple(changes), tuple(watch)))
