"""Logs a run with MLflow's client and prints what the client reads back, as JSON. Arguments: a directory to work in."""

import json
import os
import sys

import mlflow

os.chdir(sys.argv[1])
mlflow.set_experiment("by hand")
with open("notes.txt", "w", encoding="utf-8") as notes:
    notes.write("from Python\n")
with mlflow.start_run() as run:
    mlflow.log_params({"depth": 3})
    for step, loss in enumerate([0.5, 0.25, 0.125]):
        mlflow.log_metric("loss", loss, step=step)
    mlflow.log_artifact("notes.txt", "files")
client = mlflow.MlflowClient()
found = client.get_run(run.info.run_id)
print(
    json.dumps(
        {
            "runId": run.info.run_id,
            "status": found.info.status,
            "params": found.data.params,
            "loss": [[point.step, point.value] for point in client.get_metric_history(run.info.run_id, "loss")],
            "notes": mlflow.artifacts.load_text(f"{found.info.artifact_uri}/files/notes.txt"),
        }
    )
)
