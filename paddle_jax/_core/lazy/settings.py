"""Settings of the deferred tier, process-wide, set through FLAGS_deferred*."""

MODES = ("off", "sync", "async")


class _Settings:
    """mode: see FLAGS_deferred. min_repeats: how often a segment is met before it is compiled whole. 0 leaves
    that to what it costs. max_ops: ops a segment may have. interpreter: whether new ops are interpreted on
    the CPU. code_mb: memory that compiled programs may take; 0: any. pending_mb: memory that pending ops may
    keep from being freed."""

    mode, min_repeats, max_ops, interpreter, code_mb = "sync", 0, 2048, True, 1024
    pending_mb = 64
    executor = None  # taken over by new threads, e.g. FLAGS_check_nan_inf
    enter = None  # puts the Context of a new thread into static mode, when the main thread is in it


settings = _Settings()
