"""The process: flags and defaults, messages, counters, threads, forks, signals, and changes that no
exception can cut in two."""
