# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
def picture(k):
    return paddle.to_tensor((np.sin(np.arange(3 * 16 * 16) * (0.1 + 0.2 * k)) * 0.5 + 0.5).reshape([1, 3, 16, 16]).astype("float32"))
content, style = picture(0), picture(1)
mean, std = paddle.to_tensor([0.485, 0.456, 0.406]), paddle.to_tensor([0.229, 0.224, 0.225])
def normalized(img):
    return (img - mean.reshape([1, 3, 1, 1])) / std.reshape([1, 3, 1, 1])
normalized(content).mean(), normalized(content).std()
# %% features
net = nn.Sequential(nn.Conv2D(3, 6, 3, padding=1), nn.ReLU(), nn.AvgPool2D(2), nn.Conv2D(6, 8, 3, padding=1), nn.ReLU())
for k, p in enumerate(net.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.3)
    p.stop_gradient = True
net.eval()
def features(x, style_layers=(1, 4), content_layers=(4,)):
    styles, contents = [], []
    for i, layer in enumerate(net):
        x = layer(x)
        if i in style_layers:
            styles.append(x)
        if i in content_layers:
            contents.append(x)
    return contents, styles
[f.shape for f in features(normalized(content))[1]]
# %% losses
def gram(X):
    c, n = X.shape[1], X.size // X.shape[1]
    X = X.reshape([c, n])
    return X @ X.T / (c * n)
def content_loss(a, b):
    return paddle.square(a - b.detach()).mean()
def tv_loss(y):
    return 0.5 * ((y[:, :, 1:, :] - y[:, :, :-1, :]).abs().mean() + (y[:, :, :, 1:] - y[:, :, :, :-1]).abs().mean())
gram(features(normalized(style))[1][0])[:2]
tv_loss(content)
# %% optimisation
class Image(nn.Layer):
    def __init__(self, start):
        super().__init__()
        self.weight = self.create_parameter(start.shape)
        self.weight.set_value(start)
    def forward(self):
        return self.weight
image = Image(normalized(content))
opt = paddle.optimizer.Adam(0.1, parameters=image.parameters())
targets, grams = features(normalized(content))[0], [gram(f) for f in features(normalized(style))[1]]
for epoch in range(6):
    contents, styles = features(image())
    c = sum(content_loss(a, b) for a, b in zip(contents, targets))
    s = sum(content_loss(gram(a), b) for a, b in zip(styles, grams)) * 100
    total = c + s + tv_loss(image()) * 0.1
    total.backward()
    opt.step()
    opt.clear_grad()
    if epoch % 2 == 0:
        print(f"{epoch} content {c.item():.3f} style {s.item():.2f} total {total.item():.2f}")
# %% back
out = paddle.clip(image() * std.reshape([1, 3, 1, 1]) + mean.reshape([1, 3, 1, 1]), 0, 1)
out.shape, out.stop_gradient, bool((out >= 0).all())
(out[0].transpose([1, 2, 0]).numpy() * 255).astype("uint8").dtype
