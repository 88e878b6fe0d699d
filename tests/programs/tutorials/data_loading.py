# %% import
import numpy as np
import paddle
from paddle.io import Dataset, DataLoader, TensorDataset, BatchSampler, RandomSampler, SequenceSampler, Subset, random_split, IterableDataset
# %% dataset
class Squares(Dataset):
    def __init__(self, n):
        super().__init__()
        self.n = n
    def __getitem__(self, i):
        return np.array([i], "float32"), np.array(i * i, "int64")
    def __len__(self):
        return self.n
data = Squares(5)
len(data), data[3]
# %% batches
for x, y in DataLoader(data, batch_size=2):
    print(x, y)
# %% dropping the last
[x.shape for x, y in DataLoader(data, batch_size=2, drop_last=True)]
len(DataLoader(data, batch_size=2)), len(DataLoader(data, batch_size=2, drop_last=True))
# %% shuffled
seen = paddle.concat([y for x, y in DataLoader(data, batch_size=2, shuffle=True)])
seen.sort()
# %% tensors
td = TensorDataset([paddle.arange(6).reshape([3, 2]), paddle.to_tensor([0, 1, 0])])
td[1]
for xb, yb in DataLoader(td, batch_size=2):
    print(xb, yb)
# %% own collation
def together(items):
    return {"x": np.stack([a for a, _ in items]), "n": len(items)}
for batch in DataLoader(data, batch_size=3, collate_fn=together):
    print(type(batch).__name__, batch["x"].shape, batch["n"])
# %% samplers
list(SequenceSampler(data)), sorted(RandomSampler(data))
list(BatchSampler(data, batch_size=2))
list(BatchSampler(sampler=SequenceSampler(data), batch_size=3, drop_last=True))
# %% streams
class Stream(IterableDataset):
    def __iter__(self):
        for i in range(5):
            yield np.float32(i)
[b for b in DataLoader(Stream(), batch_size=2)]
# %% parts
len(Subset(data, [0, 2])), Subset(data, [4, 1])[0]
a, b = random_split(data, [3, 2])
len(a), len(b)
# %% dictionaries
class Named(Dataset):
    def __getitem__(self, i):
        return {"a": i, "b": [float(i), 1.0], "c": "s%d" % i}
    def __len__(self):
        return 3
for batch in DataLoader(Named(), batch_size=3):
    print(batch)
# %% iterating by hand
it = iter(DataLoader(data, batch_size=4))
next(it)
next(it)
# %% refused end
next(it)
# %% refused length
len(DataLoader(Stream(), batch_size=2))
