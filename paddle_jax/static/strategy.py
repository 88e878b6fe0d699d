"""Settings that Paddle's own compiler takes. XLA decides these things itself."""

from __future__ import annotations

import enum
from typing import Any

from paddle_jax._program.program import Program

_DEFAULTS = {
    "allow_cuda_graph_capture": False,
    "async_mode": False,
    "bkcl_comm_num": 1,
    "build_cinn_pass": False,
    "cache_runtime_context": False,
    "debug_graphviz_path": "",
    "enable_addto": False,
    "enable_auto_fusion": False,
    "enable_backward_optimizer_op_deps": True,
    "enable_inplace": True,
    "fuse_adamw": False,
    "fuse_all_optimizer_ops": False,
    "fuse_all_reduce_ops": True,
    "fuse_bn_act_ops": False,
    "fuse_bn_add_act_ops": True,
    "fuse_broadcast_ops": True,
    "fuse_dot_product_attention": False,
    "fuse_elewise_add_act_ops": False,
    "fuse_gemm_epilogue": False,
    "fuse_relu_depthwise_conv": False,
    "fuse_resunit": False,
    "fused_attention": False,
    "fused_feedforward": False,
    "hierarchical_allreduce_inter_nranks": 0,
    "memory_optimize": None,
    "nccl_comm_num": 1,
    "num_trainers": 1,
    "sequential_run": False,
    "sync_batch_norm": False,
    "trainer_id": 0,
    "use_hierarchical_allreduce": False,
}


class ReduceStrategy(enum.Enum):
    """How gradients of several devices are brought together."""

    AllReduce = 0
    Reduce = 1
    _NoReduce = 2


class BuildStrategy:
    """Settings for building a program. They are kept and change nothing: XLA fuses operations and
    plans memory itself.

    Raises:
        AttributeError: a setting does not exist.
        TypeError: its value is of the wrong type.
    Example:
        >>> strategy = paddle.static.BuildStrategy()
        >>> strategy.fuse_bn_act_ops = True
        >>> strategy.fuse_bn_act_ops
        True
    """

    ReduceStrategy = ReduceStrategy
    __slots__ = (
        *_DEFAULTS,
        "mkldnn_enabled_op_types",
        "onednn_enabled_op_types",
        "reduce_strategy",
        "trainers_endpoints",
    )

    def __init__(self) -> None:
        # Around `__setattr__`, which compares with the present value.
        for name, value in _DEFAULTS.items():
            object.__setattr__(self, name, value)
        for name, value in (
            ("reduce_strategy", ReduceStrategy.AllReduce),
            ("trainers_endpoints", []),
            ("mkldnn_enabled_op_types", set()),
            ("onednn_enabled_op_types", set()),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__slots__:
            raise AttributeError(
                f"BuildStrategy: there is no setting {name!r}; allowed are {', '.join(self.__slots__)}"
            )
        # None: the setting takes either value.
        kind = type(getattr(self, name))
        if (
            kind is not type(None)
            and not isinstance(value, kind)
            or name == "memory_optimize"
            and not isinstance(value, bool | None)
        ):
            raise TypeError(f"BuildStrategy.{name}: got {type(value).__name__}; it must be {kind.__name__}")
        object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return (
            "\n".join(
                ["BuildStrategy:", *[f"{name}: {getattr(self, name)}" for name in sorted(self.__slots__)]]
            )
            + "\n"
        )


class CompiledProgram:
    """A Program with settings for building it; the Executor runs it as it runs the Program.

    Args:
        program_or_graph: Program.
        build_strategy: BuildStrategy. Default None.
    Raises:
        TypeError: program_or_graph is no Program.
    Differs from Paddle: it works; Paddle 3.3.1 refuses the Programs it makes.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.data("x", [1]) * 2
        >>> paddle.static.Executor().run(paddle.static.CompiledProgram(main), {"x": np.ones(1, "float32")},
        ...                              [y])
        [array([2.], dtype=float32)]
        >>> paddle.disable_static()
    """

    def __init__(self, program_or_graph: Program, build_strategy: BuildStrategy | None = None) -> None:
        if not isinstance(program_or_graph, Program):
            raise TypeError(
                f"CompiledProgram: program_or_graph: got {type(program_or_graph).__name__}; "
                "it must be a paddle.static.Program"
            )
        self._program = program_or_graph
        self._build_strategy = build_strategy


__all__ = ["BuildStrategy", "CompiledProgram"]
