"""Programs for a machine with accelerators. `python -m tests.device.places_programs KIND NAME ...`
prints their results as JSON, and `test_places.py` compares them with what Paddle does there."""

import json
import pathlib
import sys
import tempfile
import time

import numpy as np

PROGRAMS = {}  # name -> (function of paddle, its result)


def program(name, expected):
    """Decorator: adds a program."""

    def add(function):
        PROGRAMS[name] = function, expected
        return function

    return add


def place(tensor):
    """The Place of a Tensor as text, e.g. "gpu:1"."""
    return str(tensor.place)[6:-1]


@program("a new Tensor", ["gpu:0", "gpu:0", "gpu:0", "gpu:0", "gpu:0"])
def default_place(paddle):
    drawn = paddle.rand([2])
    made = paddle.to_tensor(np.ones(3))
    return [
        paddle.get_device(),
        place(made),
        place(drawn),
        place(made + 1),
        place(paddle.nn.Linear(2, 2).weight),
    ]


@program("set_device", ["gpu:2", "gpu:2", "cpu", "gpu:1", "gpu:1", "gpu:3"])
def chosen(paddle):
    paddle.set_device("gpu:2")
    second = paddle.ones([2])
    at_second = place(second + paddle.rand([2]))
    paddle.set_device("cpu")
    host = paddle.ones([2])
    paddle.set_device(paddle.CUDAPlace(1))
    first = paddle.get_device()
    paddle.set_device("cuda:0")
    paddle.set_device(1)
    number = paddle.get_device()
    with paddle.device.device_guard("gpu:3"):
        guarded = place(paddle.ones([1]))
    return [place(second), at_second, place(host), first, number, guarded]


@program("moves", ["cpu", "gpu:0", "gpu:2", "gpu:1", "cpu", "gpu:3", "cpu", True])
def moves(paddle):
    x = paddle.ones([2])
    host = x.cpu()
    moved = [
        host,
        host.cuda(),
        x.cuda(2),
        x.to("gpu:1"),
        x.pin_memory(),
        x.to(paddle.CUDAPlace(3)),
        host.to("cpu"),
    ]
    return [*map(place, moved), host.cpu() is host and x.cuda() is x]


@program("cuda() follows the current device", ["gpu:2", "gpu:2", "gpu:2"])
def follows(paddle):
    first = paddle.ones([2])
    paddle.set_device("gpu:2")
    return [place(first.cuda()), place(first.cpu().cuda()), place(paddle.nn.Linear(2, 2).cuda().weight)]


@program(
    "operands on the host go to the accelerator",
    [["gpu:0", 2.0], ["gpu:1", 2.0], ["gpu:1", 2.0], ["cpu", 2.0]],
)
def mixed(paddle):
    host = paddle.to_tensor([1.0], place="cpu")
    default = paddle.to_tensor([1.0])
    first = paddle.to_tensor([1.0], place="gpu:1")
    sums = host + default, host + first, paddle.concat([first, host]).sum(), host + 1.0
    return [[place(total), float(total)] for total in sums]


@program("gradients come back to their device", ["gpu:0", "gpu:1", 8.0, 8.0, 2.0])
def stages(paddle):
    a = paddle.full([2], 2.0)
    b = paddle.full([2], 1.0).to("gpu:1")
    a.stop_gradient = b.stop_gradient = False
    loss = ((a * a).to("gpu:1") * b * 2.0).sum()
    loss.backward()
    second = paddle.to_tensor([1.0])
    second.stop_gradient = False
    (first,) = paddle.grad((second.to("gpu:1") ** 2).sum(), second, create_graph=True)
    return [
        place(a.grad),
        place(b.grad),
        a.grad[0].item(),
        b.grad[1].item(),
        paddle.grad(first, second)[0].item(),
    ]


@program("like another one", ["gpu:1"] * 5 + ["gpu:0"] * 3)
def alike(paddle):
    x = paddle.ones([2]).cuda(1)
    made = [
        paddle.zeros_like(x),
        paddle.full_like(x, 2),
        paddle.rand_like(x),
        paddle.randn_like(x),
        x.clone(),
    ]
    pending = x + 1
    beside = [paddle.rand([2]), paddle.to_tensor([1.0]) * 2, paddle.zeros([2])]
    return [*map(place, made), *map(place, beside)] if place(pending) == "gpu:1" else None


@program("set_value keeps the device", ["gpu:1", "gpu:1", "gpu:1", [5.0, 6.0]])
def values(paddle):
    x = paddle.ones([2]).cuda(1)
    x.set_value(np.array([3.0, 4.0], "float32"))
    numpy = place(x)
    x.set_value(paddle.to_tensor([5.0, 6.0], place="cpu"))
    layer = paddle.nn.Linear(2, 2).to("gpu:1")
    layer.set_state_dict(paddle.nn.Linear(2, 2).state_dict())
    return [numpy, place(x), place(layer.weight), x.tolist()]


def losses(paddle, device, moved_to=None, compiled=False):
    """Places and losses of three steps."""
    paddle.set_device(device)
    paddle.seed(1)
    net = paddle.nn.Sequential(
        paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Dropout(0.1), paddle.nn.Linear(8, 3)
    )
    x = paddle.rand([8, 4])
    y = paddle.to_tensor([0, 1, 2, 0, 1, 2, 0, 1])
    if moved_to:
        net.to(moved_to)
        x = x.to(moved_to)
        y = y.to(moved_to)
    adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())

    def step(x, y):
        loss = paddle.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    run = paddle.jit.to_static(step) if compiled else step
    found = [run(x, y) for _ in range(4)]
    return [place(found[-1]), place(net[0].weight)], [float(loss) for loss in found]


@program(
    "training",
    [
        ["gpu:0", "gpu:0"],
        ["gpu:2", "gpu:2"],
        ["gpu:3", "gpu:3"],
        ["gpu:0", "gpu:0"],
        ["gpu:3", "gpu:3"],
        True,
    ],
)
def training(paddle):
    _, expected = losses(paddle, "cpu")
    runs = [
        losses(paddle, "gpu"),
        losses(paddle, "gpu:2"),
        losses(paddle, "gpu", "gpu:3"),
        losses(paddle, "gpu", compiled=True),
        losses(paddle, "cpu", "gpu:3", compiled=True),
    ]
    same = all(np.allclose(found, expected, rtol=1e-5) for _, found in runs)
    return [*[places for places, _ in runs], same]


@program("a compiled function with an argument on the host", [["gpu:0", True], ["gpu:1", True]])
def compiled(paddle):
    host = paddle.rand([2, 4]).cpu()
    results = []
    for device in ("gpu:0", "gpu:1"):
        layer = paddle.nn.Linear(4, 3).to(device)
        expected = host.numpy() @ layer.weight.numpy() + layer.bias.numpy()
        found = paddle.jit.to_static(layer)(host)
        results.append([place(found), bool(np.allclose(found.numpy(), expected, rtol=1e-5))])
    return results


@program("one optimizer for parts on several devices", [["gpu:0", "gpu:1"], True, True])
def parts(paddle):
    def train(devices, clip):
        paddle.seed(1)
        layers = [paddle.nn.Linear(3, 3).to(device) for device in devices]
        parameters = [each for layer in layers for each in layer.parameters()]
        adam = paddle.optimizer.AdamW(0.01, parameters=parameters, grad_clip=clip)
        for _ in range(4):
            h = layers[0](paddle.ones([2, 3], device=devices[0]))
            layers[1](h.to(devices[1])).square().sum().backward()
            adam.step()
            adam.clear_grad()
        return layers

    expected = ["gpu:0", "gpu:1"]
    same = []
    for clip in (None, paddle.nn.ClipGradByGlobalNorm(0.1)):
        found = train(expected, clip)
        alone = train(["cpu", "cpu"], clip)
        pairs = [
            (a, b)
            for x, y in zip(found, alone, strict=True)
            for a, b in zip(x.parameters(), y.parameters(), strict=True)
        ]
        same.append(all(bool(np.allclose(a.numpy(), b.numpy(), rtol=1e-5)) for a, b in pairs))
    return [[place(layer.weight) for layer in found], *same]


@program("states follow a part that moves", [["gpu:0", "gpu:1"], ["gpu:0", "gpu:1"], True, True, True])
def moved_part(paddle):
    def train(optimizer, target, **settings):
        paddle.seed(1)
        layers = [paddle.nn.Linear(3, 3) for _ in range(2)]
        parameters = [each for layer in layers for each in layer.parameters()]
        made = optimizer(0.01, parameters=parameters, **settings)
        for step in range(6):
            if step == 3:
                layers[1].to(target)
            h = layers[0](paddle.ones([2, 3]))
            layers[1](h.to(layers[1].weight.place)).square().sum().backward()
            made.step()
            made.clear_grad()
        return layers, made

    results = []
    for optimizer, settings in (
        (paddle.optimizer.AdamW, {"grad_clip": paddle.nn.ClipGradByGlobalNorm(0.1)}),
        (paddle.optimizer.Momentum, {}),
        (paddle.optimizer.Lamb, {}),
    ):
        moved, made = train(optimizer, "gpu:1", **settings)
        stayed, _ = train(optimizer, "gpu:0", **settings)
        pairs = [
            (a, b)
            for x, y in zip(moved, stayed, strict=True)
            for a, b in zip(x.parameters(), y.parameters(), strict=True)
        ]
        results.append(all(bool(np.allclose(a.numpy(), b.numpy(), rtol=1e-5)) for a, b in pairs))
        if optimizer is paddle.optimizer.Momentum:
            state = made.state_dict()
            states = [place(state[f"{layer.weight.name}_velocity_0"]) for layer in moved]
            weights = [place(layer.weight) for layer in moved]
    return [weights, states, *results]


@program("DataLoader", [["gpu:0", 28.0], ["gpu:1", 28.0], ["cpu", 28.0], ["gpu:2", 28.0], ["gpu:0", 28.0]])
def loaders(paddle):
    class Numbers(paddle.io.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return np.full([4], index, "float32")

    def read(**choices):
        batches = list(paddle.io.DataLoader(Numbers(), batch_size=2, **choices))
        return [place(batches[0]), sum(float(batch[:, 0].sum()) for batch in batches)]

    found = [read(), read(places=paddle.CUDAPlace(1)), read(places=[paddle.CPUPlace()])]
    with paddle.device.device_guard("gpu:2"):
        found.append(read())
    return [*found, read(num_workers=2)]


@program("DataLoader sends the next batch ahead", [True, False, [0, 1, 2, 3], "no fifth batch"])
def sent_ahead(paddle):
    class Numbers(paddle.io.Dataset):
        def __init__(self, last):
            self.last = last
            self.folder = pathlib.Path(tempfile.mkdtemp())

        def __len__(self):
            return 12

        def __getitem__(self, index):
            if index > self.last:
                raise ValueError("no fifth batch")
            (self.folder / str(index)).touch()
            return np.full([4], index, "float32")

    class Loader(paddle.io.DataLoader):
        def _finish(self, batch, copy=True):
            events.append(["sent", int(batch[0, 0])])
            return super()._finish(batch, copy)

    def read(last, **choices):
        data = Numbers(last)
        for number, batch in enumerate(Loader(data, num_workers=1, prefetch_factor=4, **choices)):
            assert place(batch) == "gpu:0" and float(batch[0, 0]) == number
            # The worker has sent the batch after the next one when it begins with another.
            while number + 3 <= last and not (data.folder / str(number + 3)).exists():
                time.sleep(0.01)
            events.append(["step", number])

    found = []
    for choices in ({}, {"use_buffer_reader": False}):
        events = []
        read(11, **choices)
        found.append(all(events.index(["sent", i + 1]) < events.index(["step", i]) for i in range(1, 8)))
    events = []
    try:
        read(3)
    except ValueError as error:
        return [*found, [number for kind, number in events if kind == "step"], str(error)]


@program("programs run where their Executor does", [["gpu:1", 4.0], ["cpu", 4.0], ["gpu:0", 4.0]])
def executors(paddle):
    paddle.enable_static()
    x = paddle.static.data("x", [2])
    total = (x * 2.0).sum()
    results = []
    for where in (paddle.CUDAPlace(1), paddle.CPUPlace(), None):
        executor = paddle.static.Executor(where)
        (found,) = executor.run(feed={"x": np.ones(2, "float32")}, fetch_list=[total], return_numpy=False)
        results.append([str(found._place())[6:-1], float(np.array(found))])
    return results


@program("streams and events", ["gpu:0", "gpu:1", "gpu:1", "gpu:0", True, True])
def streams(paddle):
    first = paddle.device.current_stream()
    other = paddle.device.Stream("gpu:1")
    with paddle.device.stream_guard(other):
        inside = place(paddle.ones([1]))
        current = paddle.device.current_stream()
    begin = paddle.device.Event(enable_timing=True)
    begin.record()
    end = first.record_event()
    timed = begin.query() and begin.elapsed_time(end) >= 0
    paddle.device.synchronize("gpu:1")
    devices = [str(stream.device)[6:-1] for stream in (first, current)]
    return [
        devices[0],
        inside,
        devices[1],
        place(paddle.ones([1])),
        timed,
        first == paddle.device.current_stream(),
    ]


@program(
    "questions", [4, True, ["gpu"], ["gpu:0", "gpu:1", "gpu:2", "gpu:3"], [], True, "gpu:1", 1, "gpu:1", 1, 4]
)
def questions(paddle):
    device = paddle.device
    device.cuda.set_device(1) if hasattr(device.cuda, "set_device") else paddle.cuda.set_device(1)
    return [
        device.device_count(),
        device.is_available(),
        device.get_all_device_type(),
        device.get_available_device(),
        device.get_available_custom_device(),
        paddle.is_compiled_with_cuda(),
        paddle.get_device(),
        paddle.cuda.current_device(),
        str(device.cuda.current_stream().device)[6:-1],
        paddle.ones([1]).get_device(),
        len(paddle.static.cuda_places()),
    ]


@program("NumPy", [[1.0, 1.0], [2.0, 2.0], "gpu:1", "cpu", True])
def interchange(paddle):
    x = paddle.ones([2]).cuda(1)
    total = x + np.ones(2, "float32")
    paddle.save({"x": x}, "/dev/null")
    return [
        np.asarray(x).tolist(),
        total.numpy().tolist(),
        place(total),
        place(x.cpu()),
        bool(np.array(x).all()),
    ]


OWN_KIND = [
    "mychip:0",
    "mychip:1",
    "mychip:2",
    "mychip:3",
    "mychip:1",
    ["mychip"],
    4,
    "mychip:1",
    True,
    False,
    "mychip:2",
]


def own_kind(paddle):
    device = paddle.device
    x = paddle.ones([2])
    other = paddle.CustomPlace("mychip", 1)
    moved = [x, x.to(other), x.to("mychip:2"), x.cuda(3), paddle.nn.Linear(2, 2).to("mychip:1").weight]
    paddle.set_device("mychip:2")
    return [
        *map(place, moved),
        device.get_all_custom_device_type(),
        device.custom_device.device_count("mychip"),
        str(device.Device("mychip:1")),
        device.is_compiled_with_custom_device("mychip"),
        paddle.is_compiled_with_cuda(),
        str(paddle.ones([1]).device),
    ]


def refusal(paddle, call):
    """Class and message of the exception that a call raises."""
    try:
        eval(call, dict(vars(paddle)))
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind in (ValueError, TypeError)]
        return [(kinds or [type(error).__name__])[0], str(error)]
    return ["nothing", ""]


def main(kind, *names):
    from tests.device import fake_accelerators

    fake_accelerators.install(kind)
    import paddle_jax as paddle

    results = {}
    for name in names:
        paddle.set_device(f"{kind}:0")
        if name.startswith("refused:"):
            results[name] = refusal(paddle, name.removeprefix("refused:"))
        elif name == "a kind of its own":
            results[name] = own_kind(paddle)
        else:
            results[name] = PROGRAMS[name][0](paddle)
        paddle.disable_static()
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
