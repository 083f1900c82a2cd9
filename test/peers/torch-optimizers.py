"""Reads {sets} on standard input, answers for each set the weights after each step and the learning rates, by PyTorch in float64."""

import json
import sys

import torch

DECOUPLED = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def optimizer_of(weights, job):
    common = {"lr": job["learningRate"], "weight_decay": job["weightDecay"]}
    if job["optimizer"] in DECOUPLED:
        betas = (job["beta1"], job["beta2"])
        return DECOUPLED[job["optimizer"]]([weights], betas=betas, eps=job["epsilon"], **common)
    momentum = job["momentum"] if job["optimizer"] == "momentum" else 0
    return torch.optim.SGD([weights], momentum=momentum, nesterov=job.get("nesterov", False), **common)


def schedule_of(optimizer, job, steps):
    schedulers = torch.optim.lr_scheduler
    if job["schedule"] == "step":
        return schedulers.StepLR(optimizer, step_size=job["stepSize"], gamma=job["gamma"])
    if job["schedule"] == "cosine":
        return schedulers.CosineAnnealingLR(optimizer, T_max=steps - 1, eta_min=job["minLearningRate"])
    return schedulers.ConstantLR(optimizer, factor=1)


def train(one):
    weights = torch.nn.Parameter(torch.tensor(one["weights"], dtype=torch.float64))
    optimizer = optimizer_of(weights, one["job"])
    schedule = schedule_of(optimizer, one["job"], len(one["gradients"]))
    after, rates = [], []
    for gradient in one["gradients"]:
        rates.append(optimizer.param_groups[0]["lr"])
        weights.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
        schedule.step()
        after.append(weights.detach().tolist())
    return {"weights": after, "rates": rates}


print(json.dumps([train(one) for one in json.load(sys.stdin)["sets"]]))
