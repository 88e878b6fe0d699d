"""Paddle's files of compiled models: a program (`.json`, Paddle's PIR) and its parameters (`.pdiparams`),
read, run and written."""
