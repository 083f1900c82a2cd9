"""Optuna's study of the same space: a CNN in PyTorch, Hyperband, trials in threads. Prints one JSON object."""

import json
import sys
import time

import duckdb
import numpy
import optuna
import torch
from torch import nn

file, trials, parallel, epochs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(1)
optuna.logging.set_verbosity(optuna.logging.ERROR)
rows = duckdb.sql(f"SELECT image, digit FROM '{file}'").fetchnumpy()
images = numpy.stack([numpy.frombuffer(bytes(row), numpy.uint8) for row in rows["image"]])
images = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 28, 28)
labels = torch.tensor(numpy.asarray(rows["digit"], dtype=numpy.int64))
order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
train, validation = order[:8000], order[8000:9000]
mean, deviation = images[train].mean(), images[train].std()
images = (images - mean) / deviation
batch = 64
trained = 0


def objective(trial):
    global trained
    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    hidden = trial.suggest_categorical("hidden", [32, 64, 128])
    torch.manual_seed(trial.number)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 10),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    accuracy = 0.0
    for epoch in range(1, epochs + 1):
        shuffled = train[torch.randperm(len(train))]
        for start in range(0, len(train) - batch + 1, batch):
            rows = shuffled[start : start + batch]
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(images[validation]).argmax(1) == labels[validation]).float().mean().item()
        trained += 1
        trial.report(accuracy, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return accuracy


pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=epochs, reduction_factor=3)
study = optuna.create_study(direction="maximize", pruner=pruner, sampler=optuna.samplers.TPESampler(seed=0))
began = time.perf_counter()
study.optimize(objective, n_trials=trials, n_jobs=parallel)
seconds = time.perf_counter() - began
cpu = time.process_time()
print(json.dumps({"version": optuna.__version__, "torch": torch.__version__, "seconds": seconds, "cpuSeconds": cpu,
                  "epochs": trained, "best": study.best_value}))
