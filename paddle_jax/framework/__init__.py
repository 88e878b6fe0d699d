"""Framework level names that programs import by this path."""

from paddle_jax.framework.io import async_save, clear_async_save_task_queue, load, save
