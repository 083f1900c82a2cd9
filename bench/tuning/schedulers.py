"""Optuna's samplers and pruners over the problems of problems.ts. Reads a task, prints one line of JSON."""

import json
import math
import sys
import warnings

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore")


def unit_of(parameter, value):
    if parameter["type"] == "categorical":
        return parameter["choices"].index(value)
    low, high = parameter["low"], parameter["high"]
    return math.log(value / low) / math.log(high / low) if parameter["log"] else (value - low) / (high - low)


def is_bad(problem, params):
    bad = problem["bad"]
    value = params[bad["parameter"]]
    if "choices" in bad:
        return value in bad["choices"]
    x = unit_of(problem["space"][bad["parameter"]], value)
    return x > 0.5 if bad["half"] == "upper" else x < 0.5


def objective_at(problem, params, epoch, seed):
    distance, phase = 0, seed
    for at, (name, parameter) in enumerate(problem["space"].items()):
        if name not in params:
            continue
        x = unit_of(parameter, params[name])
        phase += (at + 1) * 37.719 * x
        if parameter["type"] != "categorical":
            place = 0.2 + (0.6 * ((seed * 7 + at * 13 + 5) % 31)) / 30
            half = place / 2 if problem["bad"].get("half") == "upper" else 0.5 + place / 2
            distance += 0.5 * (x - (half if name == problem["bad"]["parameter"] else place)) ** 2
    wave = problem["noise"] * math.sin(12.9898 * epoch + phase)
    loss = 0.1 + distance + (problem["gap"] if is_bad(problem, params) else 0) + 2 * math.exp(-0.3 * epoch) + wave
    return loss if problem["objective"]["direction"] == "minimize" else 1 - loss


def suggest(trial, space):
    params = {}
    for name, parameter in space.items():
        when = parameter.get("when")
        if when and params.get(when["parameter"]) not in when["in"]:
            continue
        if parameter["type"] == "categorical":
            params[name] = trial.suggest_categorical(name, parameter["choices"])
            continue
        draw = trial.suggest_float if parameter["type"] == "float" else trial.suggest_int
        step = {"step": parameter["step"]} if "step" in parameter and not parameter["log"] else {}
        params[name] = draw(name, parameter["low"], parameter["high"], log=parameter["log"], **step)
    return params


SAMPLERS = {"gp": optuna.samplers.GPSampler}


def late_bad_trials(problem, sampler, seed, task):
    bad = []

    def objective(trial):
        params = suggest(trial, problem["space"])
        bad.append(is_bad(problem, params))
        for epoch in range(1, task["epochs"] + 1):
            trial.report(objective_at(problem, params, epoch, seed), epoch)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return objective_at(problem, params, task["epochs"], seed)

    pruner = {
        "asha": lambda: optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
        "hyperband": lambda: optuna.pruners.HyperbandPruner(max_resource=task["epochs"]),
    }[task["scheduler"]]()
    study = optuna.create_study(
        study_name=f"bench-{seed}",
        direction=problem["objective"]["direction"],
        sampler=SAMPLERS.get(sampler, optuna.samplers.TPESampler)(seed=seed),
        pruner=pruner,
    )
    study.optimize(objective, n_trials=task["trials"])
    return sum(bad[task["trials"] // 2 :])


def main():
    task = json.load(sys.stdin)
    counts = {
        sampler: {
            name: sum(late_bad_trials(problem, sampler, seed, task) for seed in task["seeds"]) / len(task["seeds"])
            for name, problem in task["problems"].items()
        }
        for sampler in task["samplers"]
    }
    print(json.dumps({"version": optuna.__version__, "counts": counts}))


main()
