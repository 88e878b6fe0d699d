"""Saving and loading pieces of Tensors under the path that Paddle gives it."""

__all__ = []
