"""What libraries take from `paddle.base` and `paddle.framework` does what it does in the real Paddle."""

import dataclasses
import importlib
import inspect
import io
import logging

import numpy as np
import pytest


def module(m, path):
    return importlib.import_module(f"{m.__name__}.{path}")


def raised(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return TypeError if type(error).__name__ == "ArgumentError" else type(error)


def static(m, function):
    m.enable_static()
    try:
        return function()
    finally:
        m.disable_static()


def sample(a, b=2, *args, c, d=4, **rest):
    return a


def doubled(m):
    @module(m, "base.wrapped_decorator").wrap_decorator
    def twice(function):
        return lambda *args, **kwargs: 2 * function(*args, **kwargs)

    @twice
    def add(x, y=2):
        """Adds."""
        return x + y

    return (
        add(1),
        add(1, y=5),
        add.__name__,
        add.__doc__,
        str(inspect.signature(add)),
        hasattr(add, "__wrapped__"),
    )


def managed(m):
    @module(m, "base.wrapped_decorator").signature_safe_contextmanager
    def both(a, b=3):
        yield a + b

    @both(1)
    def called(z):
        return z

    with both(2) as value:
        return value, called(4), both.__name__, str(inspect.signature(both))


def graph_modes(m):
    base = module(m, "base.dygraph.base")
    inside = base.switch_to_static_graph(
        lambda: (m.in_dynamic_mode(), m.base.framework._dygraph_tracer() is None)
    )()
    guarded = static(m, lambda: in_guard(m, base))
    tracer = m.base.framework._dygraph_tracer()
    with m.base.framework._dygraph_guard(None):
        without = m.in_dynamic_mode()
    with m.no_grad():
        grad = tracer._has_grad
    return (
        inside,
        guarded,
        without,
        m.in_dynamic_mode(),
        grad,
        tracer._has_grad,
        tracer._amp_level.name,
        tracer._amp_dtype,
    )


def in_guard(m, base):
    with base.guard():
        return m.in_dynamic_mode(), base.enabled(), float(m.ones([1]))


def storage(m):
    d = m.base.core.LoDTensor()
    before = d._is_initialized(), d.shape(), np.array(d).tolist(), str(d)
    d.set(np.arange(6, dtype="float32").reshape(2, 3), m.CPUPlace())
    d._set_dims([3, 2])
    e = m.base.core.DenseTensor()
    e._share_data_with(d)
    return (
        before,
        d.shape(),
        str(d),
        repr(d._dtype()),
        d.lod(),
        np.array(e).tolist(),
        np.array(d[0]).tolist(),
        m.to_tensor(d).tolist(),
        d._numel(),
    )


def groups(m):
    assign, found = m.framework.core.eager_assign_group_by_size, []
    mixed = ["float32", "float16", "float32", "float64", "float16", "float32", "float64"]
    for dtypes in (["float32"] * 7, mixed):
        tensors = [m.ones([2], dtype) for dtype in dtypes]
        for sparse in ([False] * 7, [i in (0, 2, 5) for i in range(7)]):
            for limits in ([8], [9], [17], [100], [8, 16, 24], [24, 8]):
                turned = assign(tensors, sparse, limits, [6, 2, 0, 1, 3, 5, 4])
                found += [assign(tensors, sparse, limits), sorted(turned)]  # what is left has no order there
    return found, assign(tensors, sparse), assign([], []), raised(assign, tensors, [False])


def squares(m):
    norm = module(m, "nn.clip")._squared_l2_norm
    return [
        norm(m.full(shape, 1.5, dtype)).tolist()
        for shape, dtype in [([2, 3], "float32"), ([2], "float64"), ([0], "float32")]
    ]


def lazily(m):
    lazy = module(m, "nn.initializer.lazy_init")
    helper, found = lazy.lazy_init_helper(), []
    with m.LazyGuard():
        found.append(helper.state)
    helper.enable()
    weight = m.nn.Linear(2, 3).weight
    found += [helper.state, weight._is_initialized()]
    helper.disable()
    weight.initialize()
    return (
        *found,
        helper.state,
        weight._is_initialized(),
        m.nn.Linear(1, 1).weight._is_initialized(),
        [m.base.core.size_of_dtype(getattr(m, name)) for name in ("bool", "float16", "complex128")],
    )


def blocks(m):
    in_use = static(m, lambda: m.static.Program().global_block())
    return (
        isinstance(in_use, m.pir.Block),
        m.static.Program()._seed,
        m.distributed.in_auto_parallel_align_mode(),
    )


def types(m):
    kinds = m.base.core.VarDesc.VarType
    return (
        {name: int(member) for name, member in kinds.__members__.items() if not name.startswith("LOD")},
        repr(kinds.FP32),
        str(kinds.FP32),
        str(kinds.LOD_TENSOR),
        kinds(5).name,
        [str(m.ones([1], kind).dtype) for kind in (kinds.FP64, kinds.INT32, kinds.BOOL)],
        kinds.FP32 == m.float32,
        str(m.ones([1]).astype(kinds.INT64).dtype),
        repr(m.ones([1]).type),
        kinds.LOD_TENSOR == kinds.DENSE_TENSOR,
    )


def names(m):
    unique = module(m, "base.unique_name")
    with unique.guard("mine_"):
        found = (
            unique.generate("a"),
            unique.generate_with_ignorable_key("b").rsplit("_", 1)[0],
            unique.generator.prefix,
            unique.generator("a"),
        )
        by_key = static(m, lambda: unique.generate_with_ignorable_key("b"))
        return found, by_key, unique.guard is m.utils.unique_name.guard


def helper(m):
    h = module(m, "base.layer_helper").LayerHelper("myop", input=m.ones([2, 3]), act="relu", name="mine")
    many = module(m, "base.layer_helper").LayerHelper(
        "myop", input=[m.ones([1]), m.zeros([1])], param_attr=m.ParamAttr(learning_rate=0.5)
    )
    weight = h.create_parameter(h.param_attr, [3, 4], h.input_dtype())
    bias = h.create_parameter(None, [2], "float32", is_bias=True)
    return (
        h.name,
        h.layer_type,
        list(weight.shape),
        bias.tolist(),
        weight.name.rsplit("_", 1)[0],
        h.append_activation(m.to_tensor([-1.0, 1.0])).tolist(),
        h.append_bias_op(m.ones([2, 3])).tolist(),
        [p.learning_rate for _, p in many.iter_inputs_and_params()],
        raised(many.input),
        h.to_variable(np.ones(2)).tolist(),
        h.create_variable_for_type_inference("float32")._is_initialized(),
    )


def checks(m):
    feeder = module(m, "base.data_feeder")
    calls = [
        lambda: feeder.check_type(1, "x", str, "op"),
        lambda: feeder.check_type(1, "x", (str, list), "op", "more"),
        lambda: feeder.check_dtype("float32", "x", ["float64"], "op"),
        lambda: feeder.check_variable_and_dtype(1, "x", ["float32"], "op"),
        lambda: m.check_shape([1, "a"], "op"),
        lambda: m.check_shape("a", "op"),
        lambda: feeder.check_dtype("int8", "x", ["int8"], "op"),
    ]
    return [raised(call) for call in calls], static(m, lambda: [raised(call) for call in calls])


def converted(m):
    frame, feeder, kinds = m.base.framework, module(m, "base.data_feeder"), m.base.core.VarDesc.VarType
    given = [
        "float32",
        "bool",
        np.float64,
        np.dtype("int64"),
        m.int8,
        "bfloat16",
        "uint16",
        "abc",
        3,
        np.float16,
        "complex64",
        "float8_e4m3fn",
        object(),
    ]
    found = [
        [str(raised(f, v)) for v in given + more]
        for f, more in (
            (frame.convert_np_dtype_to_dtype_, [int, float, None]),
            (feeder.convert_dtype, [kinds.FP32, int, float, bool, None, "paddle.float32"]),
            (frame.convert_to_proto_type, [kinds.FP32, int, None]),
        )
    ]
    numbers = np.random.default_rng(1).normal(size=[1, 2, 3, 4])
    bits = feeder.convert_float_to_uint16(numbers.astype("float32"))
    return (
        found,
        bits.tolist(),
        feeder.convert_float_to_uint16(numbers, "NHWC").shape,
        feeder.convert_uint16_to_float(bits).tolist(),
    )


def places(m):
    f = m.base.framework
    return (
        [
            str(p)
            for p in (
                f._current_expected_place(),
                f._current_expected_place_(),
                f._get_paddle_place("cpu"),
                f._get_paddle_place(None),
            )
        ],
        [raised(f._get_paddle_place, p) for p in ("abc", "gpu:9", 3)],
        len(f.cuda_pinned_places(2)) if m.__name__ == "paddle_jax" else 2,
        f._cpu_num(),
        m.CPUPlace()._equals(m.ones([1]).place),
        raised(m.CPUPlace()._equals, 3),
    )


def flags(m):
    registry, name = m.base.core.globals(), "FLAGS_check_nan_inf"
    with m.base.framework.flag_guard(name, True):
        inside = registry[name]
    return (
        inside,
        registry[name],
        m.base.framework._global_flags()[name],
        registry.is_public(name),
        name in registry,
        "FLAGS_no_such" in registry,
    )


def indexing(m):
    v, x = module(m, "base.variable_index"), m.arange(24).reshape([2, 3, 4])
    plain = [
        i if isinstance(i, int | list) else i.tolist()
        for i in v.replace_ndarray_and_range([0, np.array([1, 2]), range(3), np.array(2)])
    ]
    return (
        str(v.replace_ellipsis(x, [0, ..., 1])),
        v.replace_none([0, None, 1, None]),
        plain,
        v.MAX_INTEGER,
        v.MIN_INTEGER,
        [v.is_scalar_tensor(m.to_tensor(a)) for a in (1, True, 1.5, [1])],
        v.is_scalar_tensor(1),
        v._getitem_static(x, (0, slice(0, 2), 1)).tolist(),
        [v.slice_is_same_to_original(*a) for a in ((None, None, None), (0, v.MAX_INTEGER, 1), (1, 5, 1))],
    )


def files(m):
    f, objects = module(m, "framework.io_utils"), module(m, "framework.io")
    with f._open_file_buffer(io.BytesIO(b"abc"), "rb") as stream:
        read = stream.read()
    increased = objects._parse_every_object(
        {"a": [1, 2, (3,)], "b": {"c": 4, "d": {5}}}, lambda x: isinstance(x, int), lambda x: x + 1
    )
    return (
        read,
        [f._is_file_path("a"), f._is_file_path(stream), f._is_memory_buffer(stream)],
        increased,
        np.array(objects._to_LodTensor(np.ones(2))).tolist(),
        [objects._transformed_from_lodtensor(v) for v in (np.ones(2), 3)],
        [objects._transformed_from_varbase(v) for v in (("a", np.ones(1)), ("a", 1), 3)],
    )


def about_functions(m):
    u = module(m, "jit.dy2static.utils")

    @dataclasses.dataclass
    class Other:
        a: int = 1

        __hash__ = None

        def __call__(self, z, *more):
            return z

    return (
        u.parse_arg_and_kwargs(sample),
        u.parse_varargs_name(sample),
        u.parse_arg_and_kwargs(Other().__call__),
        u.type_name(m.ones([1])),
        [raised(u.make_hashable, v) for v in ([1, [2]], {"a": [1]}, {1, 2}, Other())],
        u.func_to_source_code(sample),
        raised(u.func_to_source_code, len),
        [
            u.is_paddle_func(v)
            for v in (
                m.add,
                sample,
                m.nn.Linear(1, 1),
                m.nn.Linear(1, 1).forward,
                m.nn.functional.relu,
                np.sum,
            )
        ],
        [u.is_builtin(*v) for v in ((len,), (sample,), (len, "len"), (len, "abs"), (int,), (range, "range"))],
        str(u.Dygraph2StaticException("text")),
        issubclass(u.Dygraph2StaticException, Exception),
    )


def gradients(m):
    x, seen = m.to_tensor([1.0, 2.0], stop_gradient=False), []
    empty = x._grad_value(), x._grad_name()
    x._register_backward_hook(lambda: seen.append(x.grad.tolist()))
    for _ in range(2):
        (x * x).sum().backward()
    other = m.ones([2])
    other._copy_gradient_from(x.grad.clone())
    y = m.to_tensor([1.0], stop_gradient=False)
    ids = [y._register_grad_hook(lambda g: g * 3), y._register_grad_hook(lambda g: g * 5)]
    removed = [y._remove_grad_hook(i) for i in (1, 1, 7)]
    (y * 2).backward()
    weight = m.nn.Linear(1, 1).weight
    weight._set_grad_ivar(m.ones([1, 1]))
    x._zero_grads()
    return (
        empty,
        seen,
        other.grad.tolist(),
        ids,
        removed,
        y.grad.tolist(),
        weight.grad.tolist(),
        x.grad.tolist(),
        np.array(x._grad_value()).tolist(),
        raised((x * 2)._register_backward_hook, print),
        raised(other._register_backward_hook, print),
        raised(x._set_grad_ivar, m.ones([1])),
    )


def memory(m):
    x, y, z = m.arange(6).reshape([2, 3]), m.zeros([6], "int64"), m.ones([2])
    found = (
        x._holder_size(),
        x._getitem_from_offset(4).item(),
        raised(x._getitem_from_offset),
        raised(x._getitem_from_offset, 99),
        z._to(dtype="int64").dtype.name,
    )
    x._share_underline_tensor_to(y)
    z.reconstruct_from_(m.zeros([3]))
    x._setitem_dygraph(0, 7)
    same = x._is_shared_underline_tensor_with(x), z.tolist(), x._getitem_dygraph(0).tolist()
    x._clear()
    return found, y.shape, same, x._is_initialized(), z._to(m.CPUPlace(), "float64").dtype.name


def kept(m):
    weight = m.nn.Linear(2, 3).weight
    h = m.framework.random
    h.set_random_seed_generator("mine", 3)
    from_io = [m.framework.io_utils.is_persistable(m.ones([1]))] if m.__name__ == "paddle_jax" else [False]
    return (
        type(weight).__module__.partition(".")[2],
        type(weight).__qualname__,
        h.get_random_seed_generator("mine").initial_seed(),
        from_io,
        vars(m.framework.recall_error)["LOSS_NAN_ERROR"],
        len(m.incubate.autograd.utils.as_tensors(m.ones([1]))),
        m.incubate.autograd.utils.as_tensors(None),
        module(m, "io.dataloader.worker")._generate_states(2**40 + 5, 7),
        module(m, "base.log_helper").get_logger("mine", logging.INFO).propagate,
    )


FACTS = [
    doubled,
    groups,
    squares,
    lazily,
    managed,
    storage,
    types,
    helper,
    converted,
    places,
    flags,
    indexing,
    files,
    about_functions,
    gradients,
    memory,
    kept,
    *(
        pytest.param(f, marks=pytest.mark.own_process, id=f.__name__)
        for f in (graph_modes, names, checks, blocks)
    ),
]


@pytest.mark.parametrize("facts", FACTS, ids=lambda f: f.__name__)
def test_as_in_paddle(facts, paddle, oracle):
    assert facts(paddle) == facts(oracle)


@pytest.mark.parametrize(
    "name",
    [
        "Dataset",
        "IterableDataset",
        "TensorDataset",
        "Sampler",
        "BatchSampler",
        "Subset",
        "DistributedBatchSampler",
    ],
)
def test_data_sets_take_a_type(name, paddle):
    generic = getattr(paddle.io, name)

    class Mine(generic[int]):
        pass

    assert issubclass(Mine, generic)


def test_static_variable_of_a_tensor(paddle):
    weight = paddle.nn.Linear(2, 2).weight
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            found = weight._to_static_var(name="mine") * 2
            exe = paddle.static.Executor()
            exe.run(startup)
            (doubled,) = exe.run(main, fetch_list=[found])
    finally:
        paddle.disable_static()
    assert np.allclose(doubled, 2 * weight.numpy())


def test_to_variable_and_programs(paddle):
    """`to_variable` is gone in Paddle 3.3; older programs call it."""
    assert paddle.base.dygraph.to_variable(np.ones(2)).tolist() == [1.0, 1.0]
    frame, program = paddle.base.framework, paddle.static.Program()
    before = frame.switch_main_program(program)
    assert paddle.static.default_main_program() is program and frame.switch_main_program(before) is program


def test_methods_by_their_first_keyword(paddle):
    """Programs call methods through the class, with the names of the real parameters."""
    calls = {
        "zero_": {},
        "fill_": {"value": 2},
        "resize_": {"shape": [1]},
        "set_": {"source": paddle.ones([1])},
        "tolist": {},
    }
    for name, rest in calls.items():
        getattr(paddle.Tensor, name)(x=paddle.ones([2]), **rest)
    assert (
        paddle.Tensor.dim(var=paddle.ones([2, 2])) == paddle.Tensor.ndimension(var=paddle.ones([2, 2])) == 2
    )
    assert paddle.arange(4)._slice(begin_idx=1, end_idx=3).tolist() == [1, 2]


def test_the_details_of_the_version_are_those_of_the_oracle(oracle, paddle):
    ours, theirs = paddle.version, oracle.version
    for name in ("cinn", "hml", "cuda_archs"):
        assert getattr(ours, name)() == getattr(theirs, name)(), name
    for name in (
        "hip",
        "hip_version",
        "with_hml",
        "compiled_cuda_archs",
        "with_pip_tensorrt",
        "major",
        "minor",
        "patch",
        "rc",
        "full_version",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.mkl() == ours.with_mkl == "OFF"


def test_backward_from_a_tensor_whose_memory_was_given_back(oracle, paddle):
    found = []
    for m in (oracle, paddle):
        x = m.to_tensor([1.0, 2.0], stop_gradient=False)
        y = x * x
        y._clear_dataptr()
        m.autograd.backward([y], [m.to_tensor([3.0, 4.0])])
        found.append(x.grad.tolist())
    assert found[0] == found[1] == [6.0, 16.0]
