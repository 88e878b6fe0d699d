"""Functions that models of several processes use."""

__all__ = []
