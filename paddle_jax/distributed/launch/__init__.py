"""Starting the processes of a program: `python -m paddle_jax.distributed.launch
--nproc_per_node 2 train.py`."""
