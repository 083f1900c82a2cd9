"""Reads pairs of samples on standard input (JSON), writes what SciPy says of each on standard output."""

import json
import sys
import warnings

import numpy as np
from scipy import stats
from scipy.spatial.distance import jensenshannon

warnings.simplefilter("ignore")


def shares(counts):
    smoothed = np.asarray(counts, dtype=float) + 0.5
    return smoothed / smoothed.sum()


def measured(pair):
    if "adjust" in pair:
        return {"adjusted": stats.false_discovery_control(pair["adjust"]).tolist()}
    p, q = shares(pair["baselineCounts"]), shares(pair["currentCounts"])
    table = np.array([pair["baselineCounts"], pair["currentCounts"]])
    table = table[:, table.sum(axis=0) > 0]
    chi = stats.chi2_contingency(table, correction=False)
    ks = stats.ks_2samp(pair["baseline"], pair["current"])
    return {
        "psi": stats.entropy(p, q) + stats.entropy(q, p),
        "kl": stats.entropy(q, p),
        "js": jensenshannon(p, q),
        "chiSquare": chi.statistic,
        "chiSquareP": chi.pvalue,
        # A column without rows is added, because some tables have one.
        "fisher": stats.fisher_exact([(counts + [0])[:2] for counts in (pair["baselineCounts"], pair["currentCounts"])]).pvalue,
        "ks": ks.statistic,
        "ksP": ks.pvalue,
        "wasserstein": stats.wasserstein_distance(pair["baseline"], pair["current"]),
    }


json.dump([measured(pair) for pair in json.load(sys.stdin)], sys.stdout)
