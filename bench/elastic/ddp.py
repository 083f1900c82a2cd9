"""A worker for torchrun, and for bench/containers: DistributedDataParallel over Gloo, a checkpoint on disk every N steps, a line for each finished step."""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

path = os.path.join(os.environ.get("SM_CHECKPOINT_DIR", ""), sys.argv[1])
steps, interval, pause = (int(text) for text in sys.argv[2:5])
torch.set_num_threads(1)
torch.manual_seed(3)
dist.init_process_group("gloo")
rank = dist.get_rank()
restart = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))

network = torch.nn.Sequential(
    torch.nn.Linear(9, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3)
)
model = DistributedDataParallel(network)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
start = 0
if os.path.exists(path):
    saved = torch.load(path)
    network.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    start = saved["step"]

for step in range(start + 1, steps + 1):
    generator = torch.Generator().manual_seed(step * 1_000 + rank)
    inputs = torch.randn(11, 9, generator=generator)
    labels = (inputs[:, 0] > 0.3).long()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
    time.sleep(pause / 1_000)
    line = {"rank": rank, "pid": os.getpid(), "restart": restart, "step": step, "at": time.time() * 1_000}
    # One write, because the ranks share a pipe.
    os.write(1, (json.dumps(line) + "\n").encode())
    if step % interval == 0 and rank == 0:
        torch.save(
            {"model": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path + ".new"
        )
        os.replace(path + ".new", path)
if rank == 0 and "SM_MODEL_DIR" in os.environ:
    torch.save(network.state_dict(), os.path.join(os.environ["SM_MODEL_DIR"], "model.pt"))
    with open(os.path.join(os.environ["SM_OUTPUT_DATA_DIR"], "predictions.csv"), "w") as file:
        file.write("row,a,b,c\n" + "".join(f"{row},0.5,0.25,0.25\n" for row in range(40)))
dist.destroy_process_group()
