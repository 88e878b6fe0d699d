"""Host time of one eager op on 8x8 float32, paddle_jax against the real Paddle.

    python benchmarks/eager_ops.py [--rounds 3] [--oracle PYTHON]
"""

import sys

import compare


def cases():
    import paddle

    def pair(grad):
        x, y = (paddle.randn([8, 8]) for _ in range(2))
        x.stop_gradient = y.stop_gradient = not grad
        return x, y

    def timed(function, grad):
        def prepare():
            x, y = pair(grad)
            return (lambda: function(x, y)), (lambda: function(x, y).numpy())

        return prepare

    ops = {
        "add": lambda x, y: x + y,
        "add a number": lambda x, y: x + 1.5,
        "matmul": lambda x, y: x @ y,
        "tanh": lambda x, y: paddle.tanh(x),
        "sum": lambda x, y: x.sum(),
        "reshape": lambda x, y: x.reshape([16, 4]),
        "x[3]": lambda x, y: x[3],
        "x[1:5, 2]": lambda x, y: x[1:5, 2],
    }
    table = {name + (", recording" if grad else ""): timed(op, grad) for grad in (False, True) for name, op in ops.items()}

    def set_item():
        x, _ = pair(False)

        def call():
            x[3] = 1.0

        return call, x.numpy

    def item():
        x, _ = pair(False)
        return (lambda: x[0, 0].item()), (lambda: None)

    def chain():
        x, y = pair(True)

        def call():
            out = x
            for _ in range(5):
                out = paddle.tanh(out @ y + x)
            out.sum().backward()
            x.clear_grad()
            y.clear_grad()

        def finish():
            x.sum().numpy()

        return call, finish

    return table | {"x[3] = 1.0": set_item, "x[0, 0].item()": item, "16 ops forward and backward": chain}


if __name__ == "__main__":
    compare.worker(cases()) if "--worker" in sys.argv else compare.main(__file__, __doc__.splitlines()[0])
