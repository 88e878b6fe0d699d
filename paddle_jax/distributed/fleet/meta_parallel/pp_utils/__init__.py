"""Parts of pipelines: their schedules, and the messages between stages."""
