"""Helper processes and threads, caches on disk and metrics of this process."""
