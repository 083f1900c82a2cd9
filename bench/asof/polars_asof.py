"""Joins labels with five views as of their times, with chained polars.join_asof; prints seconds and peak memory."""
import json
import resource
import sys
import time
import warnings

import polars as pl

warnings.filterwarnings("ignore", message="Sortedness")


def main():
    folder, views, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    start, usage = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime
    rows = pl.read_parquet(f"{folder}/labels.parquet").with_row_index("row").sort("time")
    for view in range(views):
        right = pl.read_parquet(f"{folder}/view{view}.parquet").sort("event")
        joined = rows.join_asof(
            right, left_on="time", right_on="event", by="customer", strategy="backward", tolerance="90d"
        )
        rows = joined.drop("event")
    rows.sort("row").drop("row").write_parquet(output, compression="snappy")
    seconds, usage = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime - cpu
    print(json.dumps({"seconds": seconds, "cpuSeconds": used, "peakMiB": usage.ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
