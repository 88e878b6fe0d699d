"""A process that catches an exception and ends, while the other one goes on with a Tensor on their mesh."""

import paddle_jax as paddle
import paddle_jax.distributed as dist

if __name__ == "__main__":
    dist.init_parallel_env()
    mesh = dist.ProcessMesh([0, 1], dim_names=["x"])
    part = dist.shard_tensor(paddle.ones([4]), mesh, [dist.Shard(0)])
    for step in range(2):
        try:
            if step == dist.get_rank() == 1:
                raise ValueError("a bad sample")
            print("sum", float(dist.reshard(part * (step + 1), mesh, [dist.Replicate()]).sum()), flush=True)
        except ValueError as error:
            print("caught", error, flush=True)
