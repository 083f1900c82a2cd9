"""Profiles a Parquet file and checks twelve rules with polars: prints seconds and the number of rows that break each rule."""
import datetime as dt
import json
import resource
import sys
import time

import polars as pl

quantiles = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def profile(file):
    """The statistics of a profile by Ringmaster, which are approximate above a million rows, too."""
    lazy = pl.scan_parquet(file)
    found = []
    for name, kind in lazy.collect_schema().items():
        column = pl.col(name)
        wanted = [column.count().alias("count"), column.null_count().alias("nulls"), column.approx_n_unique().alias("distinct")]
        if kind.is_integer():
            wanted += [column.min().alias("min"), column.max().alias("max"), column.mean().alias("mean"), column.std(ddof=0).alias("std")]
            wanted += [column.quantile(q, "linear").alias(f"q{q}") for q in quantiles]
        elif kind == pl.String:
            wanted += [column.str.len_chars().min().alias("min"), column.str.len_chars().max().alias("max")]
        else:
            wanted += [column.min().alias("min"), column.max().alias("max")]
        queries = [lazy.select(wanted)]
        if kind.is_integer() or kind == pl.String:
            queries.append(lazy.drop_nulls(name).group_by(name).len().sort(["len", name], descending=[True, False]).head(10))
        found.append(queries)
    return pl.collect_all([query for queries in found for query in queries])


def check(file):
    delay, date, origin, destination = (pl.col(name) for name in ("delay", "date", "origin", "destination"))
    known = ["ATL", "ORD", "DFW", "LAX", "PHX", "DEN", "DTW", "IAH", "LAS", "MSP"]
    rules = {
        "0": pl.len(),
        "2": delay.null_count(),
        "3": date.null_count(),
        "4": ((delay < -100) | (delay > 1000)).sum(),
        "5": ((date < dt.datetime(2001, 1, 1)) | (date > dt.datetime(2001, 12, 31))).sum(),
        "6": (~origin.str.contains("^[A-Z]{3}$")).sum(),
        "7": (destination.str.len_chars() != 3).sum(),
        "8": (~origin.is_in(known)).sum(),
        "9": (~((origin != destination) & (pl.col("distance") > 0))).sum(),
        "10": date.max(),
        "11": delay.mean(),
    }
    lazy = pl.scan_parquet(file)
    assert lazy.collect_schema()["delay"].is_integer()
    row = lazy.select([rule.alias(name) for name, rule in rules.items()]).collect().row(0, named=True)
    rows_of = {2, 3, 4, 5, 6, 7, 8, 9}
    counts = [int(row[str(rule)]) if rule in rows_of else None for rule in range(12)]
    # As Ringmaster does, the first rows that break a rule are read for those that rows break.
    broken = [rule for rule in rows_of if counts[rule] > 0]
    conditions = {
        4: (delay < -100) | (delay > 1000),
        5: (date < dt.datetime(2001, 1, 1)) | (date > dt.datetime(2001, 12, 31)),
        6: ~origin.str.contains("^[A-Z]{3}$"),
        7: destination.str.len_chars() != 3,
        8: ~origin.is_in(known),
        9: ~((origin != destination) & (pl.col("distance") > 0)),
    }
    indexed = lazy.with_row_index("row", offset=1)
    pl.collect_all([indexed.filter(conditions[rule]).head(5) for rule in broken if rule in conditions])
    return counts


def main():
    file = sys.argv[1]
    start, cpu = time.perf_counter(), processor_seconds()
    profile(file)
    counts = check(file)
    print(json.dumps({"seconds": time.perf_counter() - start, "cpuSeconds": processor_seconds() - cpu, "counts": counts}))


if __name__ == "__main__":
    main()
