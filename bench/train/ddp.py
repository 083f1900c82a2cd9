"""One rank of PyTorch's DistributedDataParallel over Gloo: the same model, batch and optimizer (see protocol.ts)."""

import json
import math
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

rank, world_size, store, setup = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
torch.set_num_threads(1)
torch.manual_seed(1)
model_spec, rows = setup["model"], setup["batchSize"] // world_size
batches_in_memory = 8


def weighted(layer: nn.Module, hidden: bool) -> nn.Module:
    """Uses He normal before ReLU, Glorot uniform before the loss, and biases 0, as the engine's built-in models do."""
    if hidden:
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    else:
        nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def build() -> nn.Module:
    layers: list[nn.Module] = []
    if model_spec["type"] == "cnn":
        height, width, channels = model_spec["inputShape"]
        kernel = model_spec["kernelSize"]
        for filters in model_spec["filters"]:
            layers += [
                weighted(nn.Conv2d(channels, filters, kernel, padding="same"), True),
                nn.ReLU(),
                nn.MaxPool2d(2),
            ]
            height, width, channels = height // 2, width // 2, filters
        layers.append(nn.Flatten())
        features = height * width * channels
    else:
        features = math.prod(model_spec["inputShape"])
    for units in model_spec["hidden"]:
        layers += [weighted(nn.Linear(features, units), True), nn.ReLU()]
        features = units
    layers.append(weighted(nn.Linear(features, model_spec["outputs"]), False))
    return nn.Sequential(*layers)


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    shape = model_spec["inputShape"]
    if model_spec["type"] == "cnn":
        shape = [shape[2], shape[0], shape[1]]
    return torch.rand(rows, *shape), torch.randint(model_spec["outputs"], (rows,))


dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world_size)
model = DistributedDataParallel(build())
# The fused loop is PyTorch's fastest Adam on a CPU.
optimizer = torch.optim.Adam(model.parameters(), lr=0.001, fused=True)
criterion = nn.CrossEntropyLoss()
torch.manual_seed(2 + rank)
batches = [batch() for _ in range(batches_in_memory)]
step = 0
print(json.dumps({"parameters": sum(p.numel() for p in model.parameters())}))

for line in sys.stdin:
    task = json.loads(line)
    cpu, start = time.process_time(), time.perf_counter()
    for _ in range(task["steps"]):
        inputs, labels = batches[step % batches_in_memory]
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        step += 1
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpuSeconds": cpu_seconds, "loss": loss.item()}))
