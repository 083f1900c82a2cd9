"""Optuna's samplers over the functions of functions.ts. Reads {"seeds", "trials", "sampler", "names", "probes", "history", "repeats"},
prints one line of JSON."""

import json
import math
import sys
import time

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
SHIFT = [0.7, -1.1, 0.4, 1.3, -0.6]
NAMES = ["a", "b", "c", "d", "e", "f"]


def box(low, high, size):
    return {NAMES[i]: ("float", low, high, False) for i in range(size)}


def hartmann(x):
    a = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
    p = [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
    alpha = [1, 1.2, 3, 3.2]
    return -sum(alpha[i] * math.exp(-sum(a[i][j] * (x[j] - p[i][j]) ** 2 for j in range(6))) for i in range(4))


def mixed(v):
    centre = {"sgd": -1.5, "momentum": -2, "adam": -3, "rmsprop": -3.5}[v["optimizer"]]
    penalty = {"sgd": 0.6, "momentum": 0.3, "adam": 0, "rmsprop": 0.2}[v["optimizer"]]
    return (
        penalty
        + (math.log10(v["rate"]) - centre) ** 2
        + 0.1 * (v["layers"] - 5) ** 2
        + 0.3 * math.log2(v["width"] / 90) ** 2
        + 4 * (v["dropout"] - 0.3) ** 2
    )


def shifted(f):
    return lambda x: f([one - by for one, by in zip(x, SHIFT)])


def ackley(y):
    mean_square, mean_cos = sum(one * one for one in y) / 5, sum(math.cos(2 * math.pi * one) for one in y) / 5
    return -20 * math.exp(-0.2 * math.sqrt(mean_square)) - math.exp(mean_cos) + 20 + math.e


def rosenbrock(x):
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(4))


def branin(x):
    bowl = x[1] - 5.1 / (4 * math.pi**2) * x[0] ** 2 + 5 / math.pi * x[0] - 6
    return bowl**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


def listed(f):
    return lambda v: f([v[name] for name in sorted(v)])


FUNCTIONS = {
    "sphere5": (box(-5, 5, 5), listed(shifted(lambda y: sum(one * one for one in y)))),
    "rosenbrock5": (box(-2, 2, 5), listed(rosenbrock)),
    "rastrigin5": (
        box(-5, 5, 5),
        listed(shifted(lambda y: sum(10 + one * one - 10 * math.cos(2 * math.pi * one) for one in y))),
    ),
    "ackley5": (box(-32, 32, 5), listed(shifted(ackley))),
    "branin": ({"a": ("float", -5, 10, False), "b": ("float", 0, 15, False)}, listed(branin)),
    "hartmann6": (box(0, 1, 6), listed(hartmann)),
    "mixed": (
        {
            "rate": ("float", 1e-5, 1, True),
            "width": ("int", 8, 512, True),
            "layers": ("int", 1, 8, False),
            "dropout": ("float", 0, 0.8, False),
            "optimizer": ("categorical", ["sgd", "momentum", "adam", "rmsprop"]),
        },
        mixed,
    ),
}


def suggest(trial, name, spec):
    if spec[0] == "categorical":
        return trial.suggest_categorical(name, spec[1])
    draw = trial.suggest_float if spec[0] == "float" else trial.suggest_int
    return draw(name, spec[1], spec[2], log=spec[3])


def best_of(name, seed, trials, sampler):
    space, f = FUNCTIONS[name]
    sampler_of = optuna.samplers.RandomSampler if sampler == "random" else optuna.samplers.TPESampler
    study = optuna.create_study(sampler=sampler_of(seed=seed))
    study.optimize(lambda trial: f({key: suggest(trial, key, spec) for key, spec in space.items()}), n_trials=trials)
    return study.best_value


def latency(size, repeats):
    """Returns the median milliseconds of a suggestion of 10 parameters after `size` trials."""
    space = {f"p{i}": optuna.distributions.FloatDistribution(0, 1) for i in range(10)}
    random = __import__("random").Random(0)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    for _ in range(size):
        params = {key: random.random() for key in space}
        value = sum((one - 0.3) ** 2 for one in params.values())
        study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=value))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        trial = study.ask(space)
        times.append(1000 * (time.perf_counter() - start))
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return sorted(times)[len(times) // 2]


def main():
    task = json.load(sys.stdin)
    print(
        json.dumps(
            {
                "version": optuna.__version__,
                "probes": [FUNCTIONS[name][1](params) for name, params in task["probes"]],
                "best": {name: [best_of(name, seed, task["trials"], task["sampler"]) for seed in task["seeds"]] for name in task["names"]},
                "latency": [latency(size, task["repeats"]) for size in task["history"]],
            }
        )
    )


main()
