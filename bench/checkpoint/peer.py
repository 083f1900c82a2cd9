"""A state of the same size in PyTorch: torch.save, and torch.distributed.checkpoint's save and async_save to a local folder."""

import json
import os
import shutil
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp


def resident(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


def main():
    elements, rounds = int(sys.argv[1]), int(sys.argv[2])
    folder = tempfile.mkdtemp(prefix="ringmaster-bench-torch-")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    base = resident("VmRSS")
    sizes = [elements // 10] * 9 + [elements - 9 * (elements // 10)]
    state = {f"{kind}/{i}": torch.rand(size) for kind in ("w", "m", "v") for i, size in enumerate(sizes)}
    times = {"save": [], "dcpSave": [], "asyncBlocked": [], "asyncTotal": []}
    for n in range(rounds):
        for tensor in state.values():
            tensor.add_(1)
        began = time.perf_counter()
        torch.save(state, os.path.join(folder, "whole.pt"))
        times["save"].append(time.perf_counter() - began)
        began = time.perf_counter()
        dcp.save(state, checkpoint_id=os.path.join(folder, f"sync-{n}"))
        times["dcpSave"].append(time.perf_counter() - began)
        began = time.perf_counter()
        saving = dcp.async_save(state, checkpoint_id=os.path.join(folder, f"async-{n}"))
        times["asyncBlocked"].append(time.perf_counter() - began)
        saving.result()
        times["asyncTotal"].append(time.perf_counter() - began)
        for name in (f"sync-{n}", f"async-{n}"):
            shutil.rmtree(os.path.join(folder, name))
    shutil.rmtree(folder)
    print(json.dumps({**{k: [1000 * t for t in v] for k, v in times.items()}, "baseBytes": base, "peakBytes": resident("VmHWM")}))


main()
