"""Tensors: values with gradient state, their views, places and text."""
