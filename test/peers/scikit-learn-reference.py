"""Reads {family, sets} a line on standard input, answers a line: what scikit-learn says of each set, by metric."""

import json
import sys
import warnings

import numpy as np
from sklearn import metrics as m

warnings.simplefilter("ignore")
AVERAGES = ["macro", "weighted"]


def classification(one):
    labels = np.asarray(one["labels"], dtype=np.int32)
    predicted = np.asarray(one["predicted"], dtype=np.int32)
    outputs = np.asarray(one["outputs"], dtype=np.float32)
    classes = one["classes"]
    zero = {"0": 0, "1": 1, "NaN": np.nan}[one["zeroDivision"]]
    every = list(range(classes))
    out = {"accuracy": m.accuracy_score(labels, predicted)}

    def averages(name, **options):
        found = m.precision_recall_fscore_support(labels, predicted, zero_division=zero, **options)
        for key, value in zip(["precision", "recall", "f1"], found):
            out[f"{key} {name}"] = np.asarray(value).tolist()

    averages("each", average=None, labels=every)
    for average in AVERAGES:
        averages(average, average=average)
    # Clipped as float32 is, but computed in doubles: of float32 scikit-learn takes the logarithm in float32.
    wide = outputs.astype(np.float64)
    wide = np.stack([1 - wide, wide], axis=1) if classes == 2 else wide
    out["log loss"] = m.log_loss(labels, np.clip(wide, 2**-23, 1 - 2**-23), labels=every)
    present = set(labels.tolist())
    if classes == 2 and len(present) == 2:
        out["auc"] = m.roc_auc_score(labels, outputs)
        out["pr auc"] = m.average_precision_score(labels, outputs)
    elif classes > 2 and len(present) == classes:
        out["auc"] = m.roc_auc_score(labels, outputs, multi_class="ovr", average="macro")
        out["pr auc"] = m.average_precision_score(np.eye(classes, dtype=np.int32)[labels], outputs, average="macro")
    return out


def regression(one):
    labels, predicted = (np.asarray(one[key], dtype=np.float64) for key in ["labels", "predicted"])
    out = {"rmse": m.root_mean_squared_error(labels, predicted), "mae": m.mean_absolute_error(labels, predicted)}
    if len(labels) > 1:
        out["r2"] = m.r2_score(labels, predicted)
    return out


def weighted(one):
    """Metrics of rows that count by weights, as resamples do."""
    weights = np.asarray(one["weights"], dtype=np.float64)
    labels = np.asarray(one["labels"])
    if one["classes"] == 0:
        outputs = np.asarray(one["outputs"], dtype=np.float64)
        return {
            "rmse": m.root_mean_squared_error(labels, outputs, sample_weight=weights),
            "mae": m.mean_absolute_error(labels, outputs, sample_weight=weights),
            "r2": m.r2_score(labels, outputs, sample_weight=weights),
        }
    predicted = np.asarray(one["predicted"])
    outputs = np.asarray(one["outputs"], dtype=np.float32)
    wide = outputs.astype(np.float64)
    wide = np.stack([1 - wide, wide], axis=1) if one["classes"] == 2 else wide
    every = list(range(one["classes"]))
    out = {
        "accuracy": m.accuracy_score(labels, predicted, sample_weight=weights),
        "logLoss": m.log_loss(labels, np.clip(wide, 2**-23, 1 - 2**-23), labels=every, sample_weight=weights),
    }
    # Rows without weight are no rows: their classes may not count towards an average.
    there = weights > 0
    for average in ["macro", "weighted"]:
        found = m.precision_recall_fscore_support(
            labels[there], predicted[there], sample_weight=weights[there], zero_division=0, average=average
        )
        for key, value in zip(["precision", "recall", "f1"], found):
            out[f"{key}{average.capitalize()}"] = value
    if one["classes"] == 2 and len(set(labels[there].tolist())) == 2:
        out["auc"] = m.roc_auc_score(labels, outputs, sample_weight=weights)
        out["prAuc"] = m.average_precision_score(labels, outputs, sample_weight=weights)
    return out


def fairness(one):
    """fairlearn's demographic_parity_difference and equalized_odds_difference (between_groups, worst_case), of rates by scikit-learn; undefined ones left out."""
    labels, predicted, groups = (np.asarray(one[key]) for key in ["labels", "predicted", "groups"])
    parity, odds = 0.0, 0.0
    for positive in [1] if one["classes"] == 2 else range(one["classes"]):
        y, p = labels == positive, predicted == positive
        selection, tpr, fpr = [], [], []
        for group in sorted(set(groups.tolist())):
            at = groups == group
            selection.append(p[at].mean())
            if y[at].any():
                tpr.append(m.recall_score(y[at], p[at], zero_division=0))
            if (~y[at]).any():
                fpr.append(1 - m.recall_score(~y[at], ~p[at], zero_division=0))
        gap = lambda rates: max(rates) - min(rates) if len(rates) > 1 else 0.0
        parity = max(parity, gap(selection))
        odds = max(odds, gap(tpr), gap(fpr))
    return {"parity": parity, "odds": odds}


FAMILIES = {
    "classification": classification,
    "regression": regression,
    "weighted": weighted,
    "fairness": fairness,
}
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps([FAMILIES[request["family"]](one) for one in request["sets"]]))
