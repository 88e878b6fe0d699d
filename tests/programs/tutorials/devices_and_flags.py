# %% import
import paddle
# %% where
paddle.get_device()
paddle.set_device("cpu")
x = paddle.ones([2])
x.place, str(x.place), x.place.is_cpu_place(), x.place.is_gpu_place()
x.cpu(), x.to("cpu"), x.to("float64"), x.to(paddle.float32).dtype
paddle.CPUPlace()
x.place == paddle.CPUPlace()
# %% what there is
paddle.is_compiled_with_cuda() in (True, False), paddle.device.cuda.device_count() >= 0, paddle.in_dynamic_mode()
paddle.__version__.split(".")[0]
paddle.device.get_device()
# %% layers on devices
net = paddle.nn.Linear(2, 2)
net.to("cpu").weight.place
net.to(dtype="float64").weight.dtype
net.float().weight.dtype
# %% flags
paddle.get_flags("FLAGS_check_nan_inf")
paddle.set_flags({"FLAGS_check_nan_inf": False})
# %% names
x.name = "mine"
x.name
net.weight.name == net.state_dict()["weight"].name
paddle.nn.Linear(1, 1).full_name().startswith("linear")
with paddle.utils.unique_name.guard():
    a = paddle.nn.Linear(1, 1)
    b = paddle.nn.Linear(1, 1)
a.full_name(), b.full_name(), b.weight.name, b.bias.name
# %% numbers of parameters
sum(p.numel() for p in net.parameters()), sum(p.size for p in net.parameters())
x.element_size(), x.strides, x.is_contiguous(), x.dim(), x.ndim
# %% information
paddle.iinfo("int32").min, paddle.finfo("float32").eps, paddle.finfo("float64").max > 1e300
# %% refused
x.to("nowhere")
# %% waits
paddle.seed(1) is not None
# %% guards
with paddle.no_grad():
    paddle.is_grad_enabled()
paddle.is_grad_enabled()
