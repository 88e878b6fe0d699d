"""Programs that turn lines of text into samples of slots, as lines that Paddle's parameter servers read."""

from paddle_jax.distributed.fleet.data_generator.data_generator import DataGenerator, MultiSlotDataGenerator

__all__ = ["DataGenerator", "MultiSlotDataGenerator"]
