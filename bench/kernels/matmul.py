"""PyTorch's matrix product on one thread: reads {m, k, n, transposeA, transposeB, repeat}, writes CPU seconds of one product."""

import json
import sys
import time

import torch

torch.set_num_threads(1)
operands: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

for line in sys.stdin:
    task = json.loads(line)
    m, k, n = task["m"], task["k"], task["n"]
    if line not in operands:
        a = torch.rand(k, m).t() if task["transposeA"] else torch.rand(m, k)
        b = torch.rand(n, k).t() if task["transposeB"] else torch.rand(k, n)
        operands[line] = (a, b)
        torch.mm(a, b)
    a, b = operands[line]
    cpu = time.process_time()
    for _ in range(task["repeat"]):
        torch.mm(a, b)
    print(json.dumps({"seconds": (time.process_time() - cpu) / task["repeat"]}), flush=True)
