"""Prints five studies, one a line: their space, trials and the importance that Optuna's fANOVA gives each parameter."""
import json
import math
import warnings

import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore")
EPOCHS = 9


def unit_of(trial, name):
    return trial.suggest_float(name, 0, 1)


def rate_of(trial, name="rate"):
    return trial.suggest_float(name, 1e-4, 1, log=True)


def flat(trial):
    loss = (math.log10(rate_of(trial)) + 2) ** 2 + 0.4 * abs(trial.suggest_int("layers", 1, 6) - 4)
    if trial.suggest_categorical("activation", ["relu", "tanh"]) == "tanh":
        loss += 0.5
    return loss + unit_of(trial, "dropout") ** 2


def choice(trial):
    worse = {"adam": 0, "sgd": 1.2, "rmsprop": 0.4, "adagrad": 0.9, "lion": 0.2}
    return worse[trial.suggest_categorical("optimizer", list(worse))] + 0.2 * math.sin(9 * unit_of(trial, "x")) + unit_of(trial, "y")


def conditional(trial):
    loss = 0.1 * (math.log10(rate_of(trial)) + 2) ** 2
    if trial.suggest_categorical("optimizer", ["adam", "sgd"]) == "sgd":
        loss += 1 + 0.05 * unit_of(trial, "momentum")
        trial.suggest_categorical("nesterov", [True, False])
    return loss


def curves(trial):
    rate, width = rate_of(trial), trial.suggest_int("width", 8, 64, step=8)
    place = (math.log10(rate) + 4) / 4
    for epoch in range(1, EPOCHS + 1):
        value = 2 * math.exp(-epoch * (0.1 + 0.4 * place)) + 0.6 * place * epoch / EPOCHS + 8 / width
        trial.report(value, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return value


def digits(trial):
    x, y = load_digits(return_X_y=True)
    train, test, train_y, test_y = train_test_split(x / 16, y, train_size=400, test_size=400, random_state=0)
    model = MLPClassifier(
        hidden_layer_sizes=(trial.suggest_int("units", 4, 64),),
        activation=trial.suggest_categorical("activation", ["relu", "logistic"]),
        learning_rate_init=rate_of(trial),
        alpha=rate_of(trial, "alpha"),
        max_iter=12,
        random_state=0,
    )
    return -model.fit(train, train_y).score(test, test_y)


def space_of(study):
    """Returns the parameters of all trials in the form of a study file."""
    space = {}
    for trial in study.trials:
        for name, one in trial.distributions.items():
            if isinstance(one, optuna.distributions.CategoricalDistribution):
                space[name] = {"type": "categorical", "choices": list(one.choices)}
            else:
                kind = "int" if isinstance(one, optuna.distributions.IntDistribution) else "float"
                step = {} if kind == "float" or one.step == 1 else {"step": one.step}
                space[name] = {"type": kind, "low": one.low, "high": one.high, "log": one.log, **step}
    return space


def importance(study, epoch):
    """Returns the figures of Optuna, which takes completed trials alone. Those of an epoch become such ones."""
    if epoch:
        stopped, study = study, optuna.create_study()
        for one in stopped.trials:
            value = one.intermediate_values[epoch]
            study.add_trial(optuna.trial.create_trial(params=one.params, distributions=one.distributions, value=value))
    figures = optuna.importance.FanovaImportanceEvaluator(seed=0).evaluate(study)
    return {name: round(figure, 4) for name, figure in figures.items()}


def rounded(value):
    return float(f"{value:.5g}") if isinstance(value, float) else value


def describe(name, objective, epoch=None, when=None, trials=60):
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), pruner=pruner)
    study.optimize(objective, n_trials=trials)
    space = space_of(study)
    for child in when or {}:
        space[child]["when"] = when[child]
    return {
        "name": name,
        "space": space,
        "importance": importance(study, epoch),
        "trials": [
            {
                "params": {name: rounded(one) for name, one in trial.params.items()},
                "reports": [{"epoch": at, "value": rounded(value)} for at, value in trial.intermediate_values.items()],
                **({"values": [rounded(trial.value)]} if trial.state.name == "COMPLETE" else {}),
            }
            for trial in study.trials
        ],
    }


sgd = {"parameter": "optimizer", "in": ["sgd"]}
for study in (
    describe("numbers and a choice", flat),
    describe("five choices", choice),
    describe("a decisive choice with parameters of its own", conditional, when={"momentum": sgd, "nesterov": sgd}),
    describe("trials stopped early", curves, epoch=1),
    describe("networks of digits", digits),
):
    print(json.dumps(study, separators=(",", ":")))
