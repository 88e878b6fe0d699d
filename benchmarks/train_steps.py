"""Time of one undecorated eager training step, paddle_jax against the real Paddle.

    python benchmarks/train_steps.py [--rounds 3] [--oracle PYTHON]

The networks are those of the examples: forward, backward, Adam, clearing the gradients and reading the loss.
"""

import sys
from pathlib import Path

import compare

sys.path.append(str(Path(__file__).resolve().parent.parent / "examples"))


def cases():
    import char_transformer
    import digits
    import numpy as np
    import paddle
    import paddle.nn.functional as F
    import pinn_burgers
    from paddle import nn

    def step_of(net, loss_of):
        """(call, finish) for one training step."""
        optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=net.parameters())

        def call():
            loss = loss_of(net)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return float(loss)

        for _ in range(5):
            call()
        return call, call

    rng = np.random.default_rng(0)

    def mlp():
        net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        x, y = paddle.randn([64, 32]), paddle.randn([64, 10])
        return step_of(net, lambda net: F.mse_loss(net(x), y))

    def conv():
        x, y = paddle.randn([32, 1, 8, 8]), paddle.to_tensor(rng.integers(0, 10, [32]))
        return step_of(digits.ConvNet(), lambda net: F.cross_entropy(net(x), y))

    def pinn():
        x, t = paddle.uniform([500, 1], min=-1.0, max=1.0), paddle.uniform([500, 1], min=0.0, max=1.0)
        return step_of(pinn_burgers.Solution(), lambda net: (pinn_burgers.residual(net, x, t, 0.016) ** 2).mean())

    def transformer():
        tokens = paddle.to_tensor(rng.integers(0, 90, [16, 65]))
        net = char_transformer.CharTransformer(90, 64)
        return step_of(net, lambda net: F.cross_entropy(net(tokens[:, :-1]).reshape([-1, 90]), tokens[:, 1:].reshape([-1])))

    return {"MLP 32-64-64-10, batch 64": mlp, "digits, batch 32": conv, "Burgers PINN, 500 points": pinn, "char Transformer, batch 16": transformer}


if __name__ == "__main__":
    compare.worker(cases()) if "--worker" in sys.argv else compare.main(__file__, __doc__.splitlines()[0], unit=("ms", 1e3))
