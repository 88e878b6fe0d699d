"""How a Model computes in static mode: one Program each for training, evaluation and prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._program.program import Program, default_startup_program, program_guard
from paddle_jax._program.recorder import data
from paddle_jax._program.scope import global_scope
from paddle_jax.distributed import fleet
from paddle_jax.distributed.communication.group import default_group
from paddle_jax.framework.io import save as save_file
from paddle_jax.hapi.adapters import MergedRows, is_parallel, listed, to_numpy
from paddle_jax.optimizer.lr import LRScheduler
from paddle_jax.static.amp import CustomOpLists, decorate
from paddle_jax.static.executor import Executor
from paddle_jax.static.io import save_inference_model, set_program_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor


class StaticGraphAdapter:
    """Runs batches of a Model as static programs."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._programs = {}  # mode: (program, inputs, labels, outputs, losses, what metrics compute)
        self._executor = None
        self.merged_rows = MergedRows()

    @property
    def mode(self) -> str:
        """ "train", "eval" or "test"."""
        return self.model.mode

    @mode.setter
    def mode(self, value: Any) -> None:
        self.model.mode = value

    def prepare(self) -> None:
        """Records the programs and fills the parameters."""
        self._programs, self._executor = {}, Executor()
        # One startup program for all modes, as they share the parameters.
        startup = default_startup_program()
        for mode in ("train", "eval", "test"):
            # Evaluation needs neither an optimizer nor a loss.
            if mode != "train" or (self.model._optimizer is not None and self.model._loss is not None):
                self._programs[mode] = self._recorded(mode, startup)
        self._executor.run(startup)

    def _recorded(self, mode: str, startup: Program) -> Any:
        model = self.model
        # Dropout and normalisation are recorded in the mode of the program.
        model.network.train() if mode == "train" else model.network.eval()
        program = Program()
        with program_guard(program, startup):
            inputs = [data(spec.name, spec.shape, spec.dtype) for spec in model._inputs]
            # Prediction has no labels.
            if mode != "test":
                labels = [data(spec.name, spec.shape, spec.dtype) for spec in model._labels]
            else:
                labels = []
            outputs = listed(model.network(*inputs))
            losses = []
            measured = []
            if mode != "test" and model._loss is not None:
                losses = listed(model._loss(*outputs, *labels))
            if mode != "test":
                measured = [listed(metric.compute(*outputs, *labels)) for metric in model._metrics]
            if mode == "train":
                total = losses[0]
                for loss in losses[1:]:
                    total = total + loss
                self._optimizer().minimize(total)
        return program, inputs, labels, outputs, losses, measured

    def _optimizer(self) -> Any:
        model = self.model
        # Each process has a part of the data: fleet averages the gradients.
        if is_parallel():
            return self._distributed_optimizer()
        # Without mixed precision the optimizer is used as it is.
        if model._amp_level == "O0":
            return model._optimizer
        lists = CustomOpLists(
            model._amp_lists.get("custom_white_list"), model._amp_lists.get("custom_black_list")
        )
        return decorate(model._optimizer, lists, level=model._amp_level)

    def _of_all_processes(self, values: Sequence[Any]) -> list[Any]:
        """What metrics want of a batch of all processes: `compute` works on each example alone."""
        group = default_group().process_group
        rows = [np.concatenate(np.asarray(group.all_gather(np.asarray(value)))) for value in values]
        return self.merged_rows.cut(rows, self.model._test_dataloader)

    def _distributed_optimizer(self) -> Any:
        model = self.model
        strategy = fleet.DistributedStrategy()
        if model._amp_level != "O0":
            strategy.amp = True
            strategy.amp_configs = {**model._amp_lists, "use_pure_fp16": model._amp_level == "O2"}
        fleet.init(is_collective=True, strategy=strategy)
        return fleet.distributed_optimizer(model._optimizer, strategy)

    def _run(self, mode: str, inputs: Any, labels: Any) -> Any:
        self.mode = mode
        program, taken, known, outputs, losses, measured = self._programs[mode]
        values = [to_numpy(each) for each in (*listed(inputs), *listed(labels))]
        feed = {
            variable.name: np.asarray(value)
            for variable, value in zip((*taken, *known), values, strict=False)
        }
        if mode == "test":
            wanted = outputs
        else:
            # Losses first, then what each metric wants.
            wanted = [*losses, *(each for one in measured for each in one)]
        found = self._executor.run(program, feed=feed, fetch_list=list(wanted))
        if mode == "test":
            return found
        results = found[: len(losses)]
        rest = found[len(losses) :]
        if mode == "eval" and rest and is_parallel():
            rest = self._of_all_processes(rest)
        rest = iter(rest)
        reports = [
            metric.update(*(next(rest) for _ in one))
            for metric, one in zip(self.model._metrics, measured, strict=True)
        ]
        if reports and losses:
            return (results, reports)
        if self.model._metrics:
            return reports
        return results

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """See Model.train_batch."""
        if "train" not in self._programs:
            raise AssertionError(
                "Model.train_batch: the model is not ready; call prepare() with an optimizer and a loss first"
            )
        if not update:
            raise AssertionError(
                "Model.train_batch: update: got False; gradients are not added up in static "
                "mode, use dynamic mode"
            )
        return self._run("train", inputs, labels)

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """See Model.eval_batch."""
        return self._run("eval", inputs, labels)

    def predict_batch(self, inputs: Any) -> Any:
        """See Model.predict_batch."""
        return self._run("test", inputs, None)

    def parameters(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        """The parameters of the network."""
        return self.model.network.parameters(*args, **kwargs)

    def save(self, path: str) -> None:
        """Writes weights and the state of the optimizer."""
        save_file(
            {name: variable.get_value() for name, variable in self.model.network.state_dict().items()},
            f"{path}.pdparams",
        )
        if "train" in self._programs:
            save_file(self._state(), f"{path}.pdopt")

    def _state(self) -> dict[str, Any]:
        """What the training program keeps besides the network, and the state of the schedule."""
        program = self._programs["train"][0]
        values = global_scope().values
        # States of the optimizer are all that the network does not hold.
        network = {variable.name for variable in self.model.network.state_dict().values()}
        state = {
            name: program.vars[name].get_value()
            for name in program.vars
            if name in values and name not in network
        }
        schedule = self.model._optimizer._learning_rate
        return state | ({"LR_Scheduler": schedule.state_dict()} if isinstance(schedule, LRScheduler) else {})

    def load(
        self,
        param_state_pairs: Sequence[tuple[Tensor, Any]],
        optim_state: dict[str, Any],
        scaler_state: dict[str, Any] | None = None,
    ) -> None:
        """Sets weights, and the state of the optimizer if there is one."""
        for parameter, value in param_state_pairs:
            parameter.set_value(np.asarray(to_numpy(value)))
        if optim_state is not None and "train" in self._programs:
            # The schedule is no Variable of the program.
            schedule = optim_state.pop("LR_Scheduler", None)
            if schedule is not None and isinstance(self.model._optimizer._learning_rate, LRScheduler):
                self.model._optimizer._learning_rate.set_state_dict(schedule)
            set_program_state(
                self._programs["train"][0], {name: to_numpy(value) for name, value in optim_state.items()}
            )

    def save_inference_model(self, path: str) -> None:
        """Writes the program of prediction."""
        program, inputs, _, outputs, _, _ = self._programs["test"]
        save_inference_model(path, inputs, outputs, self._executor, program=program)
