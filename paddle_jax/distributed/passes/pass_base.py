"""Passes of static programs.

XLA does what fusing passes do, so they change nothing here. Merging gradients is a setting of a program that
`fleet.distributed_optimizer` trains. All other passes raise NotImplementedError with what to use instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddle_jax._program.program import Program
from paddle_jax.distributed.fleet.static_training import AveragedProgram

__all__ = []

MERGE = "auto_parallel_gradient_merge_pass"
# What XLA does: fusing passes in the order in which they run, then those without one.
_ORDERED_FUSIONS = (
    "fuse_resunit",
    "fuse_relu_depthwise_conv",
    "fuse_bn_add_act",
    "fuse_bn_act",
    "fused_attention",
    "fused_feedforward",
    "fuse_gemm_epilogue",
    "fuse_adamw",
    "fuse_optimizer",
)
_OTHER_FUSIONS = (
    "fuse_elewise_add_act",
    "fuse_dot_product_attention",
    "fuse_all_reduce",
    "build_cinn",
    "allreduce_matmul_grad_overlapping",
    "auto_parallel_fused_linear_promotion",
    "auto_parallel_supplement_explicit_dependencies",
)
_FLEET = "fleet.distributed_optimizer(optimizer).minimize(loss) does it for jobs with parameter servers"
_STAGES = "use a PipelineLayer with pipeline_configs['schedule_mode'] of fleet.DistributedStrategy"
_MESHES = "use distributed.to_static with a Strategy, or paddle.distributed.parallelize"
_LOW_PRECISION = "use paddle.static.amp.decorate(optimizer), or strategy.amp of fleet"
# What other passes are for, and what does that here.
_REFUSED = {
    "auto_parallel_amp": _LOW_PRECISION,
    "auto_parallel_fp16": _LOW_PRECISION,
    "auto_parallel_master_grad_pass": _LOW_PRECISION,
    "auto_parallel_recompute": "use paddle.distributed.fleet.utils.recompute",
    "auto_parallel_recompute_pir": "use paddle.distributed.fleet.utils.recompute",
    "auto_parallel_quantization": "use paddle.quantization.QAT",
    "auto_parallel_sharding": "use sharding_degree of hybrid_configs, in dynamic mode",
    "auto_parallel_grad_clip": "give the optimizer a grad_clip",
    "auto_parallel_c_embedding_pass": "use paddle.distributed.split",
    "replace_with_parallel_cross_entropy": "use fleet.meta_parallel.ParallelCrossEntropy",
    "auto_parallel_data_parallel_optimization": _MESHES,
    "auto_parallel_sequence_parallel_optimization": _MESHES,
    "auto_parallel_sync_shared_params": _MESHES,
    "pipeline_scheduler_1F1B": _STAGES,
    "pipeline_scheduler_Eager1F1B": _STAGES,
    "pipeline_scheduler_FThenB": _STAGES,
    "pipeline_scheduler_VPP": _STAGES,
    "pipeline_scheduler_ZBH1": _STAGES,
    "pipeline_scheduler_ZBVPP": _STAGES,
    "add_geo_optimizer_pass": _FLEET,
    "add_listen_and_serv_pass": _FLEET,
    "add_lr_decay_table_pass": _FLEET,
    "add_optimizer_pass": _FLEET,
    "add_rpc_global_flags_pass": _FLEET,
    "append_send_ops_pass": _FLEET,
    "build_pserver_startup_program_pass": _FLEET,
    "delete_extra_optimizer_pass": _FLEET,
    "delete_optimizer_pass": _FLEET,
    "delete_unused_in_startup_pass": _FLEET,
    "distributed_ops_pass": _FLEET,
    "fake_init_ops_pass": _FLEET,
    "ps_gpu_pass": _FLEET,
    "ps_transpile_pass": _FLEET,
    "set_heter_pipeline_opt_pass": _FLEET,
    "split_fl_ops_pass": _FLEET,
    "split_heter_worker_ops_pass": _FLEET,
    "split_trainer_ops_pass": _FLEET,
}


class PassContext:
    """What passes have been applied, and attributes that they leave for each other.

    Example:
        >>> context = paddle.distributed.passes.PassContext()
        >>> context.set_attr("size", 3)
        >>> context.get_attr("size"), context.passes
        (3, [])
    """

    def __init__(self) -> None:
        self._attrs: dict[str, Any] = {}
        self._passes: list[Pass] = []

    @property
    def passes(self) -> list[Pass]:
        """The passes that have been applied, in order."""
        return self._passes

    def set_attr(self, key: str, value: Any) -> None:
        """Sets an attribute."""
        self._attrs[key] = value

    def get_attr(self, key: str, default: Any = None) -> Any:
        """An attribute, or a default."""
        return self._attrs.get(key, default)


class Pass:
    """A change of programs.

    Attributes:
        name: str.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        # -1 is refused: the program must say how many steps are merged.
        self._attrs: dict[str, Any] = {"k_steps": -1, "avg": True} if name == MERGE else {}

    def set_attr(self, key: str, value: Any) -> Pass:
        """Sets an attribute; gives the pass."""
        self._attrs[key] = value
        return self

    def get_attr(self, key: str, default: Any = None) -> Any:
        """An attribute, or a default."""
        return self._attrs.get(key, default)

    def apply(
        self,
        main_programs: list[Program],
        startup_programs: list[Program],
        context: PassContext | None = None,
    ) -> PassContext:
        """Changes programs.

        Args:
            main_programs, startup_programs: lists of Programs, equally many.
            context: PassContext. Default: a new one.
        Returns:
            the context.
        Raises:
            AssertionError: the lists are none, or differ in length.
            NotImplementedError: the pass has no meaning here.
            ValueError: gradients are merged in a program that fleet does not train.
        """
        context = context or PassContext()
        # A pass changes a program once.
        if any(done.name == self.name for done in context.passes):
            return context
        for programs in (main_programs, startup_programs):
            if not isinstance(programs, list) or len(programs) != len(main_programs):
                raise AssertionError(
                    f"{self.name}.apply: got {type(programs).__name__}; give a list of main and one of "
                    "startup programs, equally many"
                )
        if self.name in _REFUSED:
            raise NotImplementedError(f"{self.name}: it rewrites Paddle's programs; {_REFUSED[self.name]}")
        if self.name == MERGE:
            for program in main_programs:
                self._merge(program)
        context.passes.append(self)
        return context

    def _merge(self, program: Program) -> None:
        hook = program.hook
        if not isinstance(hook, AveragedProgram):
            raise ValueError(
                f"{self.name}: the program has no gradients to merge; build it by "
                "fleet.distributed_optimizer(optimizer).minimize(loss) before"
            )
        every = self.get_attr("k_steps")
        if every < 1:
            raise ValueError(f"{self.name}: k_steps: got {every}; it must be 1 at least")
        hook.every = every
        hook.mean = self.get_attr("avg")


def new_pass(name: str, pass_attrs: Mapping[str, Any] | None = None) -> Pass:
    """A pass by its name.

    Args:
        name: str, such as "fuse_optimizer" or "auto_parallel_gradient_merge_pass".
        pass_attrs: dict of its attributes.
    Returns:
        the pass; its `apply` changes programs, or says what to use instead.
    Raises:
        AssertionError: there is no pass of this name.
    Example:
        >>> fusing = paddle.distributed.passes.new_pass("fuse_all_reduce", {"max_memory_size": 32})
        >>> fusing.name, fusing.get_attr("max_memory_size")
        ('fuse_all_reduce', 32)
    """
    if name not in (MERGE, *_ORDERED_FUSIONS, *_OTHER_FUSIONS) and name not in _REFUSED:
        raise AssertionError(f"Pass {name} is not registered")
    made = Pass(name)
    for key, value in (pass_attrs or {}).items():
        made.set_attr(key, value)
    return made


class PassManager:
    """Passes that are applied one after the other.

    Args:
        passes: list of passes.
        context: PassContext. Default: a new one.
        auto_solve_conflict: put fusing passes into their order behind all others, and take each pass once.
    Example:
        >>> passes = paddle.distributed.passes
        >>> chosen = [passes.new_pass(name) for name in ("fuse_adamw", "fuse_bn_act")]
        >>> passes.PassManager(chosen).names
        ['fuse_bn_act', 'fuse_adamw']
    """

    def __init__(
        self, passes: Sequence[Pass], context: PassContext | None = None, auto_solve_conflict: bool = True
    ) -> None:
        self._context = context or PassContext()
        if auto_solve_conflict:
            # Of two with one name the last one counts; others keep their order.
            passes = sorted({one.name: one for one in passes}.values(), key=_position)
        self._passes = tuple(passes)

    @property
    def context(self) -> PassContext:
        """The PassContext."""
        return self._context

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes, in order."""
        return self._passes

    @property
    def names(self) -> list[str]:
        """The names of the passes."""
        return [one.name for one in self.passes]

    def apply(self, main_programs: list[Program], startup_programs: list[Program]) -> PassContext:
        """Applies all passes; see `new_pass`."""
        for one in self.passes:
            self._context = one.apply(main_programs, startup_programs, self._context)
        return self._context


def _position(one: Pass) -> int:
    """Where a pass comes: fusing ones last, in their order."""
    if one.name in _ORDERED_FUSIONS:
        return 1 + _ORDERED_FUSIONS.index(one.name)
    return 0
