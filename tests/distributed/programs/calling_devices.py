"""Remote calls in a job whose processes are connected: the first one uses its device before `init_rpc`, the
second one for the first time in a call. They meet at the address of the job."""

import os

import paddle_jax as paddle
from paddle_jax.distributed import rpc


def doubled(values):
    return (paddle.to_tensor(values) * 2).tolist()


rank = int(os.environ["PADDLE_TRAINER_ID"])
if rank == 0:
    print(doubled([1.0]))
rpc.init_rpc(f"worker{rank}", rank, 2, os.environ["PADDLE_MASTER"])
if rank == 0:
    print(rpc.rpc_sync("worker1", doubled, args=([2.0, 3.0],), timeout=30))
rpc.shutdown()
