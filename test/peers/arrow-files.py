"""Writes Arrow files with the reference implementation into the folder of the first argument."""

import datetime
import decimal
import sys

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

folder = sys.argv[1]
rows = 5_000


def every_third(values):
    return [None if i % 3 == 2 else value for i, value in enumerate(values)]


table = pa.table(
    {
        "i8": pa.array(every_third([i % 100 - 50 for i in range(rows)]), pa.int8()),
        "u64": pa.array([2**63 + i for i in range(rows)], pa.uint64()),
        "i64": pa.array([-(2**62) + i for i in range(rows)], pa.int64()),
        "f32text": pa.array([i / 10 for i in range(rows)], pa.float32()),
        "f32": pa.array([i / 8 for i in range(rows)], pa.float32()),
        "f64": pa.array(every_third([i / 10 for i in range(rows)]), pa.float64()),
        "yes": pa.array(every_third([i % 2 == 0 for i in range(rows)]), pa.bool_()),
        "word": pa.array(every_third([f"wörd {i % 7}" for i in range(rows)]), pa.string()),
        "large": pa.array([f"l{i}" for i in range(rows)], pa.large_string()),
        "colour": pa.array(every_third([["red", "green"][i % 2] for i in range(rows)])).dictionary_encode(),
        "day": pa.array([datetime.date(2024, 2, 29)] * rows, pa.date32()),
        "at": pa.array([datetime.datetime(1969, 12, 31, 23, 59, 59, 123456)] * rows, pa.timestamp("us")),
        "seconds": pa.array([datetime.datetime(2024, 2, 29)] * rows, pa.timestamp("s")),
        "nanos": pa.array([-1] * rows, pa.int64()).cast(pa.timestamp("ns", "Europe/Berlin")),
        "price": pa.array([decimal.Decimal(f"-{i}.05") for i in range(rows)], pa.decimal128(20, 2)),
        "pair": pa.array(every_third([[i, i / 2] for i in range(rows)]), pa.list_(pa.float32())),
        "grid": pa.array([[[i, 1], [2, 3]] for i in range(rows)], pa.list_(pa.list_(pa.int16(), 2), 2)),
        "none": pa.nulls(rows),
        "other": pa.array([{"a": 1}] * rows),
        "y": pa.array([i % 2 for i in range(rows)], pa.int32()),
    }
)

for compression in ["uncompressed", "lz4", "zstd"]:
    feather.write_feather(table, f"{folder}/{compression}.feather", compression=compression, chunksize=2_048)
with pa.ipc.new_stream(f"{folder}/stream.arrows", table.schema) as writer:
    writer.write_table(table, max_chunksize=1_000)
with pa.ipc.new_file(f"{folder}/file.arrow", table.schema) as writer:
    writer.write_table(table, max_chunksize=3_000)
pq.write_table(table, f"{folder}/rows.parquet")
