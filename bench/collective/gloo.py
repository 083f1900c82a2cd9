"""One rank of PyTorch's Gloo all-reduce: answers each task on standard input (see protocol.ts)."""

import json
import sys
import time

import torch
import torch.distributed as dist

rank, world_size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world_size)
dist.barrier()
print(json.dumps({"ready": True}))

for line in sys.stdin:
    task = json.loads(line)
    values = torch.full((task["elements"],), float(rank + 1))
    dist.all_reduce(values)
    expected = world_size * (world_size + 1) / 2
    assert bool((values == expected).all()), "Gloo's sum is wrong"
    # Zeros from here on, because sums in place would exceed float32.
    values.zero_()
    for _ in range(task["warmUps"]):
        dist.all_reduce(values)
    micros = []
    cpu_before = time.process_time_ns()
    for _ in range(task["iterations"]):
        start = time.perf_counter_ns()
        dist.all_reduce(values)
        micros.append((time.perf_counter_ns() - start) / 1000)
    cpu_micros = (time.process_time_ns() - cpu_before) / 1000 / task["iterations"]
    print(json.dumps({"micros": micros, "cpuMicros": cpu_micros}))
