"""Creates two studies in an SQLite file with Optuna and prints their trials as JSON."""
import json
import math
import sys

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = f"sqlite:///{sys.argv[1]}"


def objective(trial):
    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    units = trial.suggest_int("units", 8, 64, step=8)
    if trial.suggest_categorical("optimizer", ["sgd", "adam"]) == "sgd":
        trial.suggest_float("momentum", 0, 0.9, step=0.1)
    loss = abs(math.log10(rate) + 2) + abs(units - 32) / 32
    for epoch in range(1, 4):
        trial.report(loss + 1 / epoch, epoch)
        if trial.number == 5:
            raise optuna.TrialPruned()
    if trial.number == 6:
        raise ValueError("this trial fails")
    return loss


sampler = optuna.samplers.RandomSampler(seed=1)
rates = optuna.create_study(study_name="rates", storage=storage, sampler=sampler)
rates.optimize(objective, n_trials=10, catch=(ValueError,))
rates.ask()
sampler = optuna.samplers.NSGAIISampler(
    seed=1, population_size=4, constraints_func=lambda trial: (trial.params["x"] - 0.5,)
)
front = optuna.create_study(
    study_name="front", storage=storage, directions=["minimize", "maximize"], sampler=sampler
)
front.optimize(lambda trial: (trial.suggest_float("x", 0, 1), trial.suggest_int("y", 1, 9)), n_trials=6)

print(
    json.dumps(
        {
            study.study_name: [
                {
                    "state": trial.state.name,
                    "params": trial.params,
                    "values": trial.values,
                    "reports": sorted(trial.intermediate_values.items()),
                    "constraints": trial.system_attrs.get("constraints"),
                }
                for trial in study.trials
            ]
            for study in (rates, front)
        }
    )
)
