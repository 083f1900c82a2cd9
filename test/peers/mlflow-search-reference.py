"""Answers filters and orders with MLflow's own SQLite store. Reads {runs, searches} on stdin, writes what each search found or how it was refused."""

import json
import logging
import os
import sys
import tempfile

logging.disable(logging.CRITICAL)
from mlflow.entities import (Dataset, DatasetInput, InputTag, Metric, Param, RunTag, ViewType)
from mlflow.entities.model_registry import ModelVersionTag, RegisteredModelTag
from mlflow.entities import ExperimentTag
from mlflow.exceptions import MlflowException
from mlflow.store.model_registry.sqlalchemy_store import SqlAlchemyStore as Registry
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore


def main():
    request = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/mlflow.db"
        store = SqlAlchemyStore(uri, folder)
        registry = Registry(uri)
        experiments = {"0": "Default"}
        for given in request["experiments"]:
            made = store.create_experiment(given["name"], tags=[ExperimentTag(k, v) for k, v in given["tags"].items()])
            experiments[made] = given["name"]
        experiment = store.get_experiment_by_name("runs")
        names = {}
        for given in request["runs"]:
            run = store.create_run(experiment.experiment_id, given["user"], given["start"], [], given["name"])
            run_id = run.info.run_id
            names[run_id] = given["id"]
            store.log_batch(
                run_id,
                [Metric(k, float(v), given["start"], 0) for k, v in given["metrics"].items()],
                [Param(k, v) for k, v in given["params"].items()],
                [RunTag(k, v) for k, v in given["tags"].items()],
            )
            store.log_inputs(run_id, [
                DatasetInput(Dataset(d["name"], d["digest"], "local", "x"), [InputTag("mlflow.data.context", d["context"])])
                for d in given["datasets"]
            ])
            if given["status"] != "RUNNING":
                from mlflow.entities import RunStatus
                store.update_run_info(run_id, RunStatus.from_string(given["status"]), given["end"], given["name"])
        for given in request["models"]:
            registry.create_registered_model(given["name"], [RegisteredModelTag(k, v) for k, v in given["tags"].items()])
            for version in given["versions"]:
                registry.create_model_version(given["name"], version["source"], version["runId"],
                                              [ModelVersionTag(k, v) for k, v in version["tags"].items()])

        def search(one):
            filter_, order = one["filter"], one["orderBy"]
            if one["what"] == "runs":
                found = store.search_runs([experiment.experiment_id], filter_, ViewType.ACTIVE_ONLY, 1000, order)
                return [names[run.info.run_id] for run in found]
            if one["what"] == "experiments":
                return [found.name for found in store.search_experiments(filter_string=filter_, order_by=order)]
            if one["what"] == "models":
                return [found.name for found in registry.search_registered_models(filter_, 100, order)]
            found = registry.search_model_versions(filter_, 100, order)
            return [f"{version.name}/{version.version}" for version in found]

        answers = []
        for one in request["searches"]:
            try:
                answers.append({"found": search(one)})
            except MlflowException as error:
                answers.append({"refused": error.message, "code": error.error_code})
            except Exception as error:  # What MLflow's server answers 500 to.
                answers.append({"broken": repr(error)})
        ids = {name: id_ for id_, name in experiments.items()}
        sys.stdout.write(json.dumps({"answers": answers, "experimentIds": ids}))
        sys.stdout.flush()
        os._exit(0)


main()
