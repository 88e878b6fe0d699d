"""Unit tests of `_program.guards.call_signature`: words for what differs between two calls."""

import itertools

from paddle_jax._program.guards.call_signature import describe_differences


def test_what_differs_is_said_of_any_two_descriptions():
    tensor = ("t", (2,), "float32", True)
    values = [tensor, (int, 3), (list, (int, 3)), (list, tensor), (dict, ("a", tensor))]
    keys = [
        *[(1, value, ()) for value in values],
        *[(0, ("n", value), ()) for value in values],
        (0, ("m", (int, 3)), ()),
        (0, ("t", (int, 3)), ()),
    ]
    for old, new in itertools.permutations(keys, 2):
        said = describe_differences(old, new)
        assert said, (old, new)
        assert all("argument 0" in one or one.startswith(("n ", "m ", "t ")) for one in said)
    assert describe_differences((1, (int, 3), ()), (0, ("n", (int, 3)), ())) == ["n is given by its name"]
