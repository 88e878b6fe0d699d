"""Training steps of a PipelineLayer: a batch in several small ones, whose gradients add up."""

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import PipelineLayer
from paddle_jax.distributed.fleet.meta_parallel.wrapped import _Wrapped

__all__ = []


class PipelineParallel(_Wrapped):
    """A PipelineLayer that trains by whole batches.

    Args:
        layers: PipelineLayer with a loss_fn.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy; its pipeline_configs say accumulate_steps, into how many small batches
            a batch is cut, and micro_batch_size.
    Raises:
        TypeError: layers is no PipelineLayer.
    """

    def __init__(self, layers, hcg, strategy):
        if not isinstance(layers, PipelineLayer):
            raise TypeError(
                f"PipelineParallel: layers: got {type(layers).__name__}; it must be a PipelineLayer"
            )
        super().__init__(layers, hcg, strategy)
        configs = strategy.pipeline_configs
        self.accumulate_steps, self.micro_batch_size, self.total_loss = (
            configs["accumulate_steps"],
            configs["micro_batch_size"],
            None,
        )

    def forward_backward_pipeline(self, data, scaler=None):
        """Computes the gradients of the mean loss of the small batches, and returns it.

        Args:
            data: [inputs, labels], each a Tensor, or a list or tuple of such.
            scaler: GradScaler or None.
        """
        total = 0
        for inputs, labels in self._small_batches(data):
            loss = self._loss(inputs, labels) / self.accumulate_steps
            (loss if scaler is None else scaler.scale(loss)).backward()
            total = total + loss.detach()
        self.total_loss = total
        return total

    def train_batch(self, data, optimizer, lr_scheduler=None, scaler=None):
        """One training step.

        Args:
            data: as in forward_backward_pipeline.
            optimizer: Optimizer.
            lr_scheduler: LRScheduler or None; it goes on by one step.
            scaler: GradScaler or None.
        Returns:
            The mean loss, a Tensor [].
        """
        self._layers.train()
        loss = self.forward_backward_pipeline(data, scaler)
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        if lr_scheduler is not None:
            lr_scheduler.step()
        return loss

    @no_grad()
    def eval_batch(self, data, compute_loss=False):
        """The mean loss of a batch, or a list of what comes out for each small batch."""
        self._layers.eval()
        if not compute_loss:
            return [self._layers(inputs) for inputs, _ in self._small_batches(data)]
        return sum(self._loss(*one) / self.accumulate_steps for one in self._small_batches(data))

    def _loss(self, inputs, labels):
        if self._layers._loss_fn is None:
            raise CheckError("PipelineParallel: the PipelineLayer has no loss_fn; give it one")
        return self._layers._loss_fn(self._layers(inputs), labels)

    def _small_batches(self, data):
        inputs, labels = data
        for at in range(self.accumulate_steps):
            yield self._cut(inputs, at), self._cut(labels, at)

    def _cut(self, whole, at):
        if isinstance(whole, list | tuple):
            return type(whole)(self._cut(one, at) for one in whole)
        if not isinstance(whole, Tensor):
            return whole
        size = self.micro_batch_size
        if whole.shape[0] != size * self.accumulate_steps:
            raise CheckError(
                f"PipelineParallel: data: got a batch of {whole.shape[0]}; "
                f"pipeline_configs make it {self.accumulate_steps} batches of {size}"
            )
        return whole[at * size : (at + 1) * size]
