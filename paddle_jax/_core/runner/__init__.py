"""Runs recorded segments: operation by operation when new, as a compiled program when they recur."""
