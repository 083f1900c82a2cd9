"""Makes the features of bench/plan/plan.ts with pandas and scikit-learn, and writes the training rows as arrays.

pipeline.py FOLDER: reads input.json (shards, splits), writes numeric.f32, codes.i32 and sample.f64, and prints seconds,
processor seconds and fitted values. The fast form of each step is chosen: categories of pandas, and scikit-learn's
encoders on their codes.
"""
import hashlib
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import PredefinedSplit
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, RobustScaler, StandardScaler, TargetEncoder

folder = Path(sys.argv[1])
given = json.loads((folder / "input.json").read_text())


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def hash32(text):
    return int(hashlib.md5(text.encode()).hexdigest()[:8], 16)


start, cpu = time.perf_counter(), processor_seconds()
rows = pd.concat([pd.read_parquet(file) for file in given["shards"]], ignore_index=True)
train = np.fromfile(folder / "splits.u8", dtype=np.uint8) == 0
numeric, codes, fitted = {}, {}, {}


def scaled(name, scaler, column):
    scaler.fit(column[train].reshape(-1, 1))
    numeric[name] = scaler.transform(column.reshape(-1, 1))[:, 0]


distance = rows["distance"].to_numpy(np.float64)
log = np.log1p(distance)
standard, standard_log, ranges, robust = StandardScaler(), StandardScaler(), MinMaxScaler(), RobustScaler()
scaled("standardized", standard, distance)
scaled("range", ranges, distance)
scaled("robust", robust, distance)
numeric["log"] = log
scaled("standardized log", standard_log, log)
deciles = KBinsDiscretizer(10, encode="ordinal", strategy="quantile", quantile_method="linear", subsample=None)
deciles.fit(distance[train].reshape(-1, 1))
codes["decile"] = deciles.transform(distance.reshape(-1, 1))[:, 0]
codes["haul"] = np.searchsorted([200, 500, 1000, 2000], distance, side="right")

milliseconds = rows["date"].to_numpy().astype("datetime64[ms]").astype(np.int64)
hour = rows["date"].dt.hour.to_numpy(np.float64)
day = milliseconds // 86_400_000
minute = milliseconds // 60_000 % 1440
weekday = (day + 4) % 7
numeric["hour"] = hour
codes["hours"] = np.searchsorted(np.unique(hour[train]), hour)
numeric["time_sin"] = np.sin(minute * (2 * np.pi / 1440))
numeric["time_cos"] = np.cos(minute * (2 * np.pi / 1440))
numeric["week_sin"] = np.sin(weekday * (2 * np.pi / 7))
numeric["week_cos"] = np.cos(weekday * (2 * np.pi / 7))
numeric["distance by hour"] = np.divide(distance, hour, out=np.full(len(hour), np.nan), where=hour != 0)
numeric["log by hour"] = log * hour

origin, destination = rows["origin"].astype("category"), rows["destination"].astype("category")
origins, destinations = origin.cat.categories, destination.cat.categories
origin, destination = origin.cat.codes.to_numpy(np.int64), destination.cat.codes.to_numpy(np.int64)


def numbered(category, count):
    """The place of each category among those of the training rows, in order; -1 for others."""
    seen = np.bincount(category[train], minlength=count) > 0
    return np.where(seen, np.cumsum(seen) - 1, -1)[category]


codes["from"] = numbered(origin, len(origins))
numeric["number"] = numbered(destination, len(destinations))
codes["bucket"] = np.array([hash32(text) % 64 for text in destinations])[destination]
letters = np.zeros((len(origins), 16))
for row, text in enumerate(origins):
    for at in range(len(text) - 1):
        letters[row, hash32(text[at : at + 2]) % 16] += 1
for bucket in range(16):
    numeric[f"letters_{bucket}"] = letters[origin, bucket]
route, routes = pd.factorize(origin * len(destinations) + destination)
names = [origins[each // len(destinations)] + "\x1f" + destinations[each % len(destinations)] for each in routes]
codes["route bucket"] = np.array([hash32(name) % 1024 for name in names])[route]

delay = rows["delay"].to_numpy(np.float64)
days, first = np.unique(day, return_index=True)
fold = np.array([hash32(str(each)) % 5 for each in days])[np.searchsorted(days, day)]
both = np.column_stack([origin, destination])
encoder = TargetEncoder(smooth=10.0, target_type="continuous", cv=PredefinedSplit(fold[train]))
encoded = np.empty((len(rows), 2))
encoded[train] = encoder.fit_transform(both[train], delay[train])
encoded[~train] = encoder.transform(both[~train])
numeric["delay from"], numeric["delay to"] = encoded[:, 0], encoded[:, 1]

# A missing number is 0 in the shards.
values = np.nan_to_num(np.column_stack(list(numeric.values())), copy=False)
places = np.column_stack(list(codes.values())).astype(np.int32)
for split in range(3):
    chosen = np.fromfile(folder / "splits.u8", dtype=np.uint8) == split
    values[chosen].astype(np.float32).tofile(folder / f"numeric-{split}.f32")
    places[chosen].tofile(folder / f"codes-{split}.i32")
seconds, cpu_seconds = time.perf_counter() - start, processor_seconds() - cpu

values[:: given["every"]].tofile(folder / "sample.f64")
print(
    json.dumps(
        {
            "seconds": seconds,
            "cpuSeconds": cpu_seconds,
            "numeric": list(numeric),
            "codes": list(codes),
            "fitted": {
                "standardized": {"center": standard.mean_[0], "scale": standard.scale_[0]},
                "standardized log": {"center": standard_log.mean_[0], "scale": standard_log.scale_[0]},
                "range": {"center": ranges.data_min_[0], "scale": ranges.data_range_[0]},
                "robust": {"center": robust.center_[0], "scale": robust.scale_[0]},
                "decile": {"boundaries": list(deciles.bin_edges_[0][1:-1])},
            },
        }
    )
)
