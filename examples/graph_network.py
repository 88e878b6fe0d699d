"""Graph networks in the style of PGL: a convolutional one (GCN), one with attention (GAT) and one on sampled
neighbours (GraphSAGE).

    python -m paddle_jax examples/graph_network.py --model gcn  # on JAX; or gat, sage
    python examples/graph_network.py --model gcn                # the same file with the real Paddle

The nodes of the graph are the 1797 scanned digits of scikit-learn, its edges lead from each digit's nearest
neighbours (by pixels) to it. The labels of 5 digits of each kind are known; the network tells the rest. The
program ends with exit code 1 when a full-size run is right in less than 85 %.
"""

import argparse
import sys
import time

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import geometric, nn
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph


class Graph:
    """Edges by their second node: those that lead to node n are colptr[n]..colptr[n + 1] - 1."""

    def __init__(self, source, target, count):
        order = np.argsort(target, kind="stable")
        self.count = count
        self.source, self.target = (
            paddle.to_tensor(ends[order].astype("int64")) for ends in (source, target)
        )
        arriving = np.bincount(target, minlength=count)
        self.colptr = paddle.to_tensor(np.concatenate([[0], np.cumsum(arriving)]).astype("int64"))
        self.scale = paddle.to_tensor((np.maximum(arriving, 1) ** -0.5).astype("float32")).unsqueeze(-1)


class GCN(nn.Layer):
    """Kipf and Welling, 2017: the sum over neighbours, both ends weighted by the root of their degree."""

    def __init__(self, inner, outer):
        super().__init__()
        self.linear = nn.Linear(inner, outer)

    def forward(self, graph, x):
        return geometric.send_u_recv(self.linear(x) * graph.scale, graph.source, graph.target) * graph.scale


class GAT(nn.Layer):
    """Velickovic et al., 2018: the neighbours' weights are a softmax of scores of both ends;
    heads side by side."""

    def __init__(self, inner, outer, heads=2):
        super().__init__()
        self.linear = nn.Linear(inner, outer, bias_attr=False)
        self.towards, self.away = (self.create_parameter([1, heads, outer // heads]) for _ in range(2))
        self.shape = [-1, heads, outer // heads]

    def forward(self, graph, x):
        x = self.linear(x).reshape(self.shape)
        scores = geometric.send_uv(
            (x * self.away).sum(-1), (x * self.towards).sum(-1), graph.source, graph.target
        )
        scores = F.leaky_relu(scores, 0.2)
        largest = paddle.gather(geometric.segment_max(scores, graph.target), graph.target).detach()
        weights = paddle.exp(scores - largest)
        weights = weights / paddle.gather(geometric.segment_sum(weights, graph.target), graph.target)
        return geometric.send_ue_recv(
            x, weights.unsqueeze(-1), graph.source, graph.target, "mul", "sum"
        ).flatten(1)


class SAGE(nn.Layer):
    """Hamilton, Ying and Leskovec, 2017: a node's own row and the mean of those of a few
    of its neighbours."""

    def __init__(self, inner, outer):
        super().__init__()
        self.own, self.others = nn.Linear(inner, outer), nn.Linear(inner, outer, bias_attr=False)

    def forward(self, x, source, target, count):
        return self.own(x[:count]) + self.others(
            geometric.send_u_recv(x, source, target, "mean", out_size=count)
        )


class Network(nn.Layer):
    """Two layers over the whole graph, or over what is sampled of it around the nodes that
    are asked about."""

    def __init__(self, kind, inner, width, classes, neighbours):
        super().__init__()
        layer = {"gcn": GCN, "gat": GAT, "sage": SAGE}[kind]
        self.sampled, self.neighbours = kind == "sage", neighbours
        self.first, self.second = layer(inner, width), layer(width, classes)

    def forward(self, graph, x, nodes):
        if not self.sampled:
            return self.second(graph, F.elu(self.first(graph, x)))[nodes]
        rounds = []  # outwards: what the last layer needs comes first
        for _ in range(2):
            found, counts = geometric.sample_neighbors(graph.source, graph.colptr, nodes, self.neighbours)
            source, target, outer = geometric.reindex_graph(nodes, found, counts)
            rounds.append((source, target, len(nodes)))
            nodes = outer
        return self.second(F.elu(self.first(x[nodes], *rounds[1])), *rounds[0])


def digits(samples, neighbours, known):
    """(pixels, labels, graph, numbers of the nodes whose labels are known, numbers of the others)."""
    pixels, labels = load_digits(return_X_y=True)
    pixels, labels = (pixels[:samples] / 16).astype("float32"), labels[:samples].astype("int64")
    target, source = kneighbors_graph(pixels, neighbours, include_self=True).nonzero()
    shown = np.concatenate([np.flatnonzero(labels == kind)[:known] for kind in range(10)])
    return (
        pixels,
        labels,
        Graph(source, target, len(pixels)),
        shown,
        np.setdiff1d(np.arange(len(pixels)), shown),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=["gcn", "gat", "sage"], default="gcn")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--samples", type=int, default=1797)
    parser.add_argument("--neighbours", type=int, default=8)
    parser.add_argument("--width", type=int, default=64)
    args = parser.parse_args()
    paddle.seed(0)
    pixels, labels, graph, shown, hidden = digits(args.samples, args.neighbours, known=5)
    x, y, shown = paddle.to_tensor(pixels), paddle.to_tensor(labels[shown]), paddle.to_tensor(shown)
    net = Network(args.model, x.shape[1], args.width, 10, neighbours=5)
    optimizer = paddle.optimizer.Adam(0.005, parameters=net.parameters(), weight_decay=5e-4)
    start = time.perf_counter()
    for step in range(1, args.steps + 1):
        loss = F.cross_entropy(net(graph, x, shown), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if step % 50 == 0 or step == args.steps:
            print(
                f"step {step:4d}  loss {float(loss):.4f}  {1e3 * (time.perf_counter() - start) / step:.1f} "
                "ms per step",
                flush=True,
            )
    with paddle.no_grad():
        told = net(graph, x, paddle.to_tensor(hidden)).argmax(-1).numpy()
    right = float((told == labels[hidden]).mean())
    print(f"{args.model}: right about {100 * right:.1f} % of {len(hidden)} digits, from {len(shown)} labels")
    return int(args.samples == 1797 and args.steps >= 150 and right < 0.85)


if __name__ == "__main__":
    sys.exit(main())
