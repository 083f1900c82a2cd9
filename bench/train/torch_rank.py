"""One rank of a training in PyTorch: the same model, batch and optimizer as `worker.ts` (see protocol.ts)."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch_models import build, memory_format, parameter_count

rank, world_size, store, setup = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
torch.set_num_threads(1)
torch.manual_seed(1)
model_spec, rows = setup["model"], setup["batchSize"] // world_size
batches_in_memory = 8
device, precision = setup.get("device", "cpu"), setup.get("precision", "float32")
narrow = {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(precision)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"


def batch() -> tuple[object, torch.Tensor]:
    shape = model_spec["inputShape"]
    labels = torch.randint(model_spec["outputs"], (rows,))
    if model_spec["type"] == "wide-and-deep":
        ids = torch.stack([torch.randint(ids, (rows,)) for ids in model_spec["vocabularies"]], 1)
        return (ids, torch.rand(rows, shape[0] - ids.shape[1])), labels
    if model_spec["type"] in ("text", "transformer"):
        return torch.randint(model_spec["vocabulary"], (rows, *shape)), labels
    if len(shape) == 3:
        shape = [shape[2], shape[0], shape[1]]
    return torch.rand(rows, *shape).contiguous(memory_format=memory_format(model_spec)), labels


model = build(model_spec).to(device)
parameters = parameter_count(model)
if setup["torch"] == "ddp":
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world_size)
    model = DistributedDataParallel(model)
elif setup["torch"] == "compile":
    model = torch.compile(model)
# The fused loop is PyTorch's fastest Adam on a CPU.
optimizer = torch.optim.Adam(model.parameters(), lr=0.001, fused=True)
criterion = nn.CrossEntropyLoss()
torch.manual_seed(2 + rank)
scaler = torch.amp.GradScaler(device, enabled=precision == "float16")


def on_device(inputs: object, labels: torch.Tensor) -> tuple[object, torch.Tensor]:
    parts = tuple(part.to(device) for part in inputs) if isinstance(inputs, tuple) else inputs.to(device)
    return parts, labels.to(device)


batches = [on_device(*batch()) for _ in range(batches_in_memory)]
step = 0


def train(steps: int) -> float:
    global step
    for _ in range(steps):
        inputs, labels = batches[step % batches_in_memory]
        optimizer.zero_grad()
        with torch.autocast(device, narrow, enabled=narrow is not None):
            loss = criterion(model(inputs), labels)
        if narrow is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        step += 1
    return loss.item()


print(json.dumps({"parameters": parameters}))

for line in sys.stdin:
    cpu, start = time.process_time(), time.perf_counter()
    try:
        loss = train(json.loads(line)["steps"])
    except Exception as error:  # most often the compiler's; the bench prints it and leaves the row out
        print(json.dumps({"failure": f"{type(error).__name__}: {str(error).splitlines()[0]}"}))
        continue
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpuSeconds": cpu_seconds, "loss": loss}))
