"""Helpers of `paddle.distributed` that code bases import."""

__all__ = []
