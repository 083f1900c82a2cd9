"""PyTorch's Adam on one flat tensor, one thread. A line of JSON in: {elements, iterations}; milliseconds of each step out."""
import json
import sys
import time

import torch

torch.set_num_threads(1)
print(json.dumps({"ready": True}), flush=True)
kept = {}
for line in sys.stdin:
    task = json.loads(line)
    elements, fused = task["elements"], task["fused"]
    if (elements, fused) not in kept:
        weights = torch.nn.Parameter(torch.sin(torch.arange(elements, dtype=torch.float32)))
        weights.grad = torch.cos(torch.arange(elements, dtype=torch.float32)) * 1e-3
        kept[elements, fused] = torch.optim.Adam([weights], lr=1e-3, fused=fused, foreach=False)
    optimizer = kept[elements, fused]
    times = []
    for _ in range(task["iterations"]):
        start = time.perf_counter()
        optimizer.step()
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps(times), flush=True)
