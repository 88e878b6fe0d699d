"""Captured runs: Paddle code that is repeated as one compiled program."""
