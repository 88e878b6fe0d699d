"""Guards: the facts that a compiled function rests on, checked before each call."""
