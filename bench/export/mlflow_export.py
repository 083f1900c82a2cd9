"""Reads runs, params and all metric points of an experiment with MLflow's client, as its users export them."""

import json
import os
import sys
import tempfile
import time
import uuid

import mlflow
from mlflow.store.tracking.dbmodels.models import SqlLatestMetric, SqlMetric, SqlParam, SqlRun
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from sqlalchemy import insert

METRICS = ["train/loss", "train/accuracy", "validation/loss", "validation/accuracy"]


def fill(uri, runs, points):
    store = SqlAlchemyStore(uri, "artifacts")
    experiment = store.create_experiment("bench")
    rows = {SqlRun: [], SqlParam: [], SqlMetric: [], SqlLatestMetric: []}
    for index in range(runs):
        run_uuid = uuid.uuid4().hex
        start = 1_700_000_000_000 + index
        rows[SqlRun].append({
            "run_uuid": run_uuid, "name": f"run-{index}", "source_type": "LOCAL", "source_name": "",
            "entry_point_name": "", "user_id": "bench", "status": "FINISHED", "start_time": start, "end_time": start,
            "source_version": "", "lifecycle_stage": "active", "artifact_uri": "artifacts",
            "experiment_id": int(experiment),
        })
        rows[SqlParam] += [{"key": f"p{i}", "value": str(i), "run_uuid": run_uuid} for i in range(10)]
        for key in METRICS:
            for step in range(points // len(METRICS)):
                point = {"key": key, "value": index / (step + 1), "timestamp": start + step, "step": step,
                         "is_nan": False, "run_uuid": run_uuid}
                rows[SqlMetric].append(point)
            rows[SqlLatestMetric].append(point)
    with store.engine.begin() as connection:
        for table, values in rows.items():
            for at in range(0, len(values), 5_000):
                connection.execute(insert(table), values[at:at + 5_000])
    return experiment


def main():
    runs, points = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as directory:
        uri = f"sqlite:///{os.path.join(directory, 'mlflow.db')}"
        experiment = fill(uri, runs, points)
        mlflow.set_tracking_uri(uri)
        client = mlflow.MlflowClient()
        began, cpu = time.perf_counter(), time.process_time()
        found = 0
        frame = mlflow.search_runs([experiment], max_results=50_000)
        for run_id in frame["run_id"]:
            for key in METRICS:
                found += len(client.get_metric_history(run_id, key))
        seconds, used = time.perf_counter() - began, time.process_time() - cpu
    print(json.dumps({"version": mlflow.__version__, "seconds": seconds, "cpuSeconds": used, "found": found}))


main()
