# %% import
import numpy as np
import paddle
paddle.enable_static()
paddle.in_dynamic_mode()
# %% a program
main, startup = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, startup):
    x = paddle.static.data("x", [None, 3], "float32")
    y = paddle.static.data("y", [None, 1], "float32")
    out = paddle.static.nn.fc(x, 1, weight_attr=paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.5)), bias_attr=False)
    loss = paddle.mean((out - y) ** 2)
    paddle.optimizer.SGD(0.1).minimize(loss)
x.shape, out.shape, loss.shape, x.dtype
# %% running
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(startup)
feed = {"x": np.arange(6).reshape(2, 3).astype("float32"), "y": np.ones([2, 1], "float32")}
for _ in range(3):
    print(exe.run(main, feed=feed, fetch_list=[loss]))
# %% other lengths
exe.run(main, feed={"x": np.ones([4, 3], "float32"), "y": np.zeros([4, 1], "float32")}, fetch_list=[out])[0].shape
# %% the parameter
name = main.global_block().all_parameters()[0].name
np.array(paddle.static.global_scope().find_var(name).get_tensor()).shape
# %% another program
calc = paddle.static.Program()
with paddle.static.program_guard(calc):
    a = paddle.static.data("a", [2, 2])
    b = paddle.matmul(a, a) + paddle.full([2, 2], 1.0)
    c = paddle.static.nn.cond(b.sum() > 10, lambda: b * 10, lambda: b)
exe.run(calc, feed={"a": np.eye(2, dtype="float32")}, fetch_list=[b, c])
exe.run(calc, feed={"a": np.full([2, 2], 2, "float32")}, fetch_list=[c])
# %% gradients
prog = paddle.static.Program()
with paddle.static.program_guard(prog):
    z = paddle.static.data("z", [3])
    z.stop_gradient = False
    s = (z**3).sum()
    (dz,) = paddle.static.gradients([s], [z])
exe.run(prog, feed={"z": np.array([1, 2, 3], "float32")}, fetch_list=[s, dz])
# %% refused missing
exe.run(calc, feed={}, fetch_list=[b])
# %% back
paddle.disable_static()
paddle.in_dynamic_mode()
paddle.ones([2]) + 1
