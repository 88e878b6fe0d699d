"""Static and dynamic mode side by side: threads, names, programs that go back and forth, as
the real Paddle."""

import threading

import numpy as np
import pytest

import paddle_jax

X = np.ones([2, 2], "float32")


def in_thread(function):
    """What a function returns in a thread that begins now."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join(60)
    return found[0]


def program_of(m):
    main = m.static.Program()
    with m.static.program_guard(main):
        y = m.static.data("x", [2, 2]) + 1
    return main, y


def modes_of_threads(m):
    """The modes that threads see, before and after the main thread or another one switches."""
    go, early = threading.Event(), []

    def waits():
        early.append(m.in_dynamic_mode())
        go.wait(60)
        early.append(m.in_dynamic_mode())

    thread = threading.Thread(target=waits)
    thread.start()
    while not early:
        pass
    m.enable_static()
    go.set()
    thread.join(60)
    later = in_thread(m.in_dynamic_mode)

    def builds():
        main, y = program_of(m)
        return m.static.Executor(m.CPUPlace()).run(main, feed={"x": X}, fetch_list=[y])[0].tolist()

    built = in_thread(builds)
    m.disable_static()
    back = in_thread(m.in_dynamic_mode)
    in_thread(m.enable_static)
    others = m.in_dynamic_mode(), in_thread(m.in_dynamic_mode)
    m.enable_static()
    in_thread(m.disable_static)
    return early, later, built, back, others, m.in_dynamic_mode(), in_thread(m.in_dynamic_mode)


def names(m):
    """Which names of parameters and counters are free after switches and in guards."""

    def make():
        try:
            return m.nn.Linear(2, 2, weight_attr=m.ParamAttr(name="modes_w")).weight.name
        except ValueError:
            return "in use"

    found = [make(), make()]
    m.enable_static()
    found.append(make())
    m.disable_static()
    found += [make(), make(), m.nn.Linear(2, 2).weight.name, m.utils.unique_name.generate("fc")]
    m.enable_static()
    m.disable_static()
    found += [m.utils.unique_name.generate("fc"), m.nn.Linear(2, 2).weight.name, make()]
    with m.base.dygraph.guard():
        found += [make(), make(), m.nn.Linear(2, 2).weight.name]
    return [*found, make()]


def back_and_forth(m):
    """Dynamic operations between the parts of a program."""
    m.enable_static()
    main, y = program_of(m)
    m.disable_static()
    x = m.to_tensor([1.0, 2.0], stop_gradient=False)
    (x * x).sum().backward()
    found = [x.grad.tolist(), m.jit.to_static(lambda a: a * 2)(m.ones([2])).tolist()]
    m.enable_static()
    with m.static.program_guard(main):
        m.disable_static()
        eager = (m.ones([2]) * 3).tolist()
        m.enable_static()
        z = y * 2
    out = m.static.Executor(m.CPUPlace()).run(main, feed={"x": X}, fetch_list=[[y, z]])
    m.disable_static()
    with m.static.program_guard(m.static.Program()):
        inside = m.in_dynamic_mode(), (m.ones([2]) + 1).tolist()
    return found, eager, [o.tolist() for o in out], inside, (m.to_tensor(out[0]) + 1).tolist()


def layers(m):
    """A layer of each mode, trained in it while the other one is used."""
    m.disable_static()
    layer = m.nn.Linear(2, 2)
    optimizer = m.optimizer.SGD(0.1, parameters=layer.parameters())
    layer(m.to_tensor(X)).sum().backward()
    before = layer.weight.numpy().copy()
    m.enable_static()
    main, startup = m.static.Program(), m.static.Program()
    with m.static.program_guard(main, startup):
        loss = (m.static.data("x", [2, 2]) @ m.static.create_parameter([2, 2], "float32")).sum()
        m.optimizer.SGD(0.1).minimize(loss)
    exe = m.static.Executor(m.CPUPlace())
    exe.run(startup)
    first, second = (exe.run(main, feed={"x": X}, fetch_list=[loss])[0] for _ in range(2))
    m.disable_static()
    optimizer.step()
    optimizer.clear_grad()
    return np.round(first - second, 4).tolist(), np.round(before - layer.weight.numpy(), 4).tolist()


@pytest.mark.own_process
@pytest.mark.parametrize("scenario", [modes_of_threads, names, back_and_forth, layers])
def test_as_the_real_paddle(scenario, oracle):
    results = []
    for engine in (oracle, paddle_jax):
        engine.disable_static()
        with engine.utils.unique_name.guard():
            try:
                results.append(scenario(engine))
            finally:
                engine.disable_static()
    want, got = results
    assert got == want


def test_disable_static_frees_names_in_dynamic_mode():
    for _ in range(2):
        paddle_jax.disable_static()
        paddle_jax.nn.Linear(2, 2, weight_attr=paddle_jax.ParamAttr(name="modes_again"))
    with pytest.raises(ValueError, match="modes_again"):
        paddle_jax.nn.Linear(2, 2, weight_attr=paddle_jax.ParamAttr(name="modes_again"))


@pytest.mark.filterwarnings("ignore:DataLoader. the workers are threads")
# what has a lock cannot be pickled, and is read by threads
@pytest.mark.parametrize("lock", [None, threading.Lock()])
def test_workers_of_a_loader_read_in_dynamic_mode(lock):
    class Rows(paddle_jax.io.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            assert paddle_jax.in_dynamic_mode()
            return np.full(2, index, "float32")

    paddle_jax.enable_static()
    main, y = paddle_jax.static.Program(), None
    with paddle_jax.static.program_guard(main):
        y = paddle_jax.static.data("x", [2, 2]) * 2
    data = Rows()
    data.lock = lock
    loader = paddle_jax.io.DataLoader(
        data, batch_size=2, num_workers=1, places=paddle_jax.CPUPlace(), return_list=True
    )
    exe = paddle_jax.static.Executor()
    out = [exe.run(main, feed={"x": batch}, fetch_list=[y])[0].tolist() for batch in loader]
    assert out == [[[0, 0], [2, 2]], [[4, 4], [6, 6]]]


def test_programs_with_parameters_of_the_same_name(paddle):
    """Looking at a Variable outside its program tells of it, and adds nothing to the default program."""
    paddle.enable_static()
    try:
        programs = [paddle.static.Program() for _ in range(2)]
        layers = []
        for program, width in zip(programs, (4, 3), strict=True):
            with (
                paddle.static.program_guard(program, paddle.static.Program()),
                paddle.utils.unique_name.guard("same"),
            ):
                layers.append(paddle.nn.Linear(width, 8))
                layers[-1](paddle.static.data("x", [None, width]))
        assert layers[0].weight.name == layers[1].weight.name
        assert [list(p.shape) for layer in layers for p in (layer.weight, layer.bias)] == [
            [4, 8],
            [8],
            [3, 8],
            [8],
        ]
        with paddle.static.program_guard(programs[0]):
            assert [list(layer.weight.shape) for layer in layers] == [[4, 8], [3, 8]]
            with pytest.raises(ValueError, match="another program"):
                layers[1](paddle.static.data("y", [None, 3]))
        assert not {layers[0].weight.name, layers[0].bias.name} & {
            p.name for p in paddle.static.default_main_program().all_parameters()
        }
    finally:
        paddle.disable_static()


@pytest.mark.own_process
def test_compiled_functions_are_refused(oracle):
    """The real Paddle refuses all of them. Lengths would be -1 in their loops."""
    for m in (oracle, paddle_jax):
        layer = m.jit.to_static(m.nn.Linear(2, 2))
        functions = [
            m.jit.to_static(lambda a: a * 2),
            m.jit.to_static(lambda a: a * 2, full_graph=True),
            layer,
        ]
        m.enable_static()
        try:
            with m.static.program_guard(m.static.Program()):
                x = m.static.data("x", [None, 2])
                for function in functions:
                    with pytest.raises(RuntimeError, match="disable_static"):
                        function(x)
        finally:
            m.disable_static()
