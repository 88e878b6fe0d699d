"""The layers of `paddle.incubate.nn`, by family."""
