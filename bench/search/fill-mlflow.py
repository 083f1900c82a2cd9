"""Puts runs into an MLflow database in a few statements: through its server 10,000 take minutes. Reads {"runs": [...]} on stdin, prints the experiment's id."""

import json
import sys
import uuid

from sqlalchemy import insert
from mlflow.store.tracking.dbmodels.models import SqlLatestMetric, SqlMetric, SqlParam, SqlRun, SqlTag
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore


def main():
    runs = json.load(sys.stdin)["runs"]
    store = SqlAlchemyStore(sys.argv[1], "artifacts")
    experiment = store.create_experiment("bench")
    rows = {SqlRun: [], SqlTag: [], SqlParam: [], SqlMetric: [], SqlLatestMetric: []}
    for index, run in enumerate(runs):
        run_uuid = uuid.uuid4().hex
        start = 1_700_000_000_000 + index
        rows[SqlRun].append({
            "run_uuid": run_uuid, "name": run["name"], "source_type": "LOCAL", "source_name": "", "entry_point_name": "",
            "user_id": "bench", "status": "FINISHED", "start_time": start, "end_time": start + 1, "source_version": "",
            "lifecycle_stage": "active", "artifact_uri": f"artifacts/{run_uuid}", "experiment_id": int(experiment),
        })
        rows[SqlTag].append({"key": "mlflow.runName", "value": run["name"], "run_uuid": run_uuid})
        rows[SqlParam] += [{"key": key, "value": value, "run_uuid": run_uuid} for key, value in run["params"].items()]
        for key, value in run["metrics"].items():
            point = {"key": key, "value": value, "timestamp": start, "step": 0, "is_nan": False, "run_uuid": run_uuid}
            rows[SqlMetric].append(point)
            rows[SqlLatestMetric].append(point)
    with store.engine.begin() as connection:
        for table, values in rows.items():
            for at in range(0, len(values), 5_000):
                connection.execute(insert(table), values[at:at + 5_000])
    print(experiment)


main()
