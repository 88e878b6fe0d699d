"""Runs of user code in which each read of Python's state is observed: what a compiled form rests on is what
was read, and nothing else."""
