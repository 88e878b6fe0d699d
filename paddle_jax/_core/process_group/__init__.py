"""The processes of a program that runs as several: how they connect, exchange arrays and report failures."""
