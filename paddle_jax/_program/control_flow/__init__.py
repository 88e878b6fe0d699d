"""Branches and loops on Tensors, in compiled functions and in static programs."""
