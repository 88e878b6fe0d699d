"""Functions of mixtures of experts."""

__all__ = []
