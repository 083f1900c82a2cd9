"""Optuna's Hyperband over the curves of curves.ts. Reads {"seeds", "trials", "epochs", "probes"}, prints one line of JSON."""

import json
import math
import sys

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
SCALES = [1, 0.25, 0.5, 0.5]


def centre(seed, parameter):
    return 0.2 + (0.6 * ((seed * 7 + parameter * 13 + 5) % 31)) / 30


def curve_at(params, epoch, seed):
    unit = [
        (math.log10(params["rate"]) + 4) / 4,
        (math.log10(params["decay"]) + 6) / 4,
        params["dropout"] / 0.8,
        math.log(params["width"] / 8) / math.log(64),
    ]
    least = 0.05 + sum(scale * (x - centre(seed, at)) ** 2 for at, (scale, x) in enumerate(zip(SCALES, unit)))
    speed = 0.02 * 30 ** (0.7 * unit[0] + 0.3 * (1 - unit[3]))
    wave = 0.01 * math.sin(12.9898 * epoch + 78.233 * (unit[0] + unit[1]) + 37.719 * (unit[2] + unit[3]))
    return least + (2.3 - least) * math.exp(-speed * epoch) + wave


def run(sampler, seed, trials, epochs):
    trained = 0

    def objective(trial):
        nonlocal trained
        params = {
            "rate": trial.suggest_float("rate", 1e-4, 1, log=True),
            "decay": trial.suggest_float("decay", 1e-6, 1e-2, log=True),
            "dropout": trial.suggest_float("dropout", 0, 0.8),
            "width": trial.suggest_int("width", 8, 512, log=True),
        }
        for epoch in range(1, epochs + 1):
            value = curve_at(params, epoch, seed)
            trained += 1
            trial.report(value, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return value

    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=epochs, reduction_factor=3)
    study = optuna.create_study(study_name=f"bench-{seed}", sampler=sampler, pruner=pruner)
    study.optimize(objective, n_trials=trials)
    return {"epochs": trained, "best": study.best_value}


def main():
    task = json.load(sys.stdin)
    samplers = {"TPE": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    results = {
        name: [run(create(seed=seed), seed, task["trials"], task["epochs"]) for seed in task["seeds"]]
        for name, create in samplers.items()
    }
    probes = [curve_at(probe["params"], probe["epoch"], probe["seed"]) for probe in task["probes"]]
    print(json.dumps({"version": optuna.__version__, "probes": probes, "results": results}))


main()
