"""Which in-place twins take more arguments than others, as in Paddle 3.3.1."""

from __future__ import annotations

# They take the further names of their operation's arguments; the others take only their own.
ALIASED_TWINS = frozenset("add subtract multiply divide bitwise_or gcd lcm index_add index_put".split())
# They take `out`, and leave it as it is.
TWINS_WITH_OUT = frozenset(["bitwise_left_shift", "bitwise_right_shift"])
