# %% import
import paddle
from paddle.optimizer import lr
# %% schedules
def walk(scheduler, steps=6):
    found = []
    for _ in range(steps):
        found.append(round(scheduler(), 6))
        scheduler.step()
    return found
walk(lr.StepDecay(0.1, step_size=2, gamma=0.5))
walk(lr.MultiStepDecay(0.1, [2, 4], gamma=0.1))
walk(lr.ExponentialDecay(0.1, 0.9))
walk(lr.CosineAnnealingDecay(0.1, T_max=5))
walk(lr.PolynomialDecay(0.1, 5, end_lr=0.01))
walk(lr.NoamDecay(64, 4))
walk(lr.LinearWarmup(0.1, 3, 0.0, 0.1))
walk(lr.LinearWarmup(lr.StepDecay(0.1, 1), 2, 0.0, 0.1))
walk(lr.LambdaDecay(0.1, lambda e: 0.95**e))
walk(lr.PiecewiseDecay([2, 4], [0.3, 0.2, 0.1]))
walk(lr.InverseTimeDecay(0.1, 0.5)), walk(lr.NaturalExpDecay(0.1, 0.5))
walk(lr.OneCycleLR(0.1, 6)), walk(lr.CyclicLR(0.1, 0.5, 2))
# %% on a plateau
plateau = lr.ReduceOnPlateau(0.1, factor=0.5, patience=1)
for loss in [1.0, 0.9, 0.9, 0.9, 0.9]:
    plateau.step(loss)
    print(plateau.last_lr)
# %% with an optimizer
w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
sched = lr.StepDecay(0.5, 1, 0.1)
opt = paddle.optimizer.SGD(sched, parameters=[w])
for epoch in range(3):
    w.sum().backward()
    opt.step()
    opt.clear_grad()
    print(opt.get_lr(), w.numpy())
    sched.step()
opt.state_dict()
sched.state_dict()
sched.last_epoch, sched.last_lr
# %% set by hand
fixed = paddle.optimizer.Momentum(0.1, parameters=[w])
fixed.set_lr(0.01)
fixed.get_lr()
# %% refused
opt.set_lr(0.3)
# %% own schedule
class Halving(lr.LRScheduler):
    def get_lr(self):
        return self.base_lr / 2**self.last_epoch
walk(Halving(0.8))
