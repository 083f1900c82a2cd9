"""Uses the stock MLflow client, with only MLFLOW_TRACKING_URI set. Each step prints its result; the first error ends the script."""

import json
import math
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import mlflow  # noqa: E402
from mlflow.entities import Metric, Param, RunTag, ViewType  # noqa: E402
from mlflow.exceptions import MlflowException  # noqa: E402
from mlflow.tracking import MlflowClient  # noqa: E402

steps = []


def step(function):
    steps.append(function)
    return function


def refused(code, call):
    try:
        call()
    except MlflowException as error:
        assert error.error_code == code, f"{error.error_code}, not {code}: {error}"
        return str(error)
    raise AssertionError(f"was not refused as {code}")


client = MlflowClient()
known = {}


@step
def an_experiment():
    known["experiment"] = mlflow.set_experiment("stock client").experiment_id
    experiment = client.get_experiment(known["experiment"])
    assert experiment.name == "stock client"
    assert experiment.artifact_location == f"mlflow-artifacts:/{known['experiment']}"
    assert mlflow.get_experiment_by_name("stock client").experiment_id == known["experiment"]
    assert mlflow.get_experiment_by_name("nothing") is None
    refused("RESOURCE_ALREADY_EXISTS", lambda: client.create_experiment("stock client"))
    client.set_experiment_tag(known["experiment"], "team", "vision")
    assert client.get_experiment(known["experiment"]).tags["team"] == "vision"
    assert mlflow.get_experiment("0").name == "Default"


@step
def experiments_come_and_go():
    made = client.create_experiment("short-lived", tags={"a": "1"})
    client.rename_experiment(made, "shorter")
    client.delete_experiment(made)
    assert client.get_experiment(made).lifecycle_stage == "deleted"
    assert made not in [one.experiment_id for one in client.search_experiments()]
    deleted = client.search_experiments(view_type=ViewType.DELETED_ONLY, filter_string="tags.a = '1'")
    assert [one.name for one in deleted] == ["shorter"]
    client.restore_experiment(made)
    assert client.get_experiment(made).lifecycle_stage == "active"
    client.delete_experiment(made)


@step
def a_run_with_params_metrics_and_tags():
    with mlflow.start_run(run_name="parent", description="**notes**", tags={"stage": "dev"}) as run:
        known["run"] = run.info.run_id
        mlflow.log_param("lr", 0.01)
        mlflow.log_params({"depth": 3, "optimizer": "adam"})
        for at in range(20):
            mlflow.log_metric("loss", 1 / (at + 1), step=at)
        mlflow.log_metrics({"acc": 0.9, "train/f1": 0.8}, step=3)
        mlflow.log_metric("broken", float("nan"))
        mlflow.log_metric("endless", float("inf"))
        mlflow.set_tags({"owner": "ada", "extra": "x"})
        mlflow.delete_tag("extra")
        with mlflow.start_run(run_name="child", nested=True) as child:
            known["child"] = child.info.run_id
            mlflow.log_metric("loss", 0.5)
            mlflow.log_param("lr", 0.02)
    run = mlflow.get_run(known["run"])
    assert run.info.status == "FINISHED" and run.info.end_time >= run.info.start_time
    assert run.info.run_name == "parent"
    assert run.data.params == {"lr": "0.01", "depth": "3", "optimizer": "adam"}
    assert run.data.metrics["loss"] == 1 / 20 and run.data.metrics["train/f1"] == 0.8
    assert math.isnan(run.data.metrics["broken"])
    assert run.data.metrics["endless"] == sys.float_info.max
    assert run.data.tags["owner"] == "ada" and "extra" not in run.data.tags
    assert run.data.tags["mlflow.note.content"] == "**notes**" and run.data.tags["mlflow.runName"] == "parent"
    assert run.data.tags["mlflow.source.name"].endswith("mlflow-client.py")
    assert mlflow.get_run(known["child"]).data.tags["mlflow.parentRunId"] == known["run"]
    assert mlflow.get_parent_run(known["child"]).info.run_id == known["run"]


@step
def histories():
    history = client.get_metric_history(known["run"], "loss")
    assert [point.step for point in history] == list(range(20))
    assert [point.value for point in history] == [1 / (at + 1) for at in range(20)]
    assert math.isnan(client.get_metric_history(known["run"], "broken")[0].value)
    assert client.get_metric_history(known["run"], "nothing") == []


@step
def what_is_refused():
    message = refused("INVALID_PARAMETER_VALUE", lambda: client.log_param(known["run"], "lr", 7))
    assert "lr" in message and "0.01" in message
    refused("RESOURCE_DOES_NOT_EXIST", lambda: client.get_run("0" * 32))
    refused("RESOURCE_DOES_NOT_EXIST", lambda: client.delete_tag(known["run"], "nothing"))
    refused("INVALID_PARAMETER_VALUE", lambda: mlflow.search_runs(filter_string="metrics.loss >"))


@step
def batches():
    run = client.create_run(known["experiment"])
    now = int(time.time() * 1000)
    points = [Metric(f"m{i % 10}", i, now, i // 10) for i in range(1000)]
    for _ in range(2):
        client.log_batch(run.info.run_id, metrics=points, params=[Param("p", "1")], tags=[RunTag("t", "2")])
    found = client.get_run(run.info.run_id)
    assert found.data.metrics["m3"] == 993 and found.data.params == {"p": "1"} and found.data.tags["t"] == "2"
    assert len(client.get_metric_history(run.info.run_id, "m3")) == 100
    client.set_terminated(run.info.run_id, "FAILED")
    assert client.get_run(run.info.run_id).info.status == "FAILED"
    client.delete_run(run.info.run_id)
    assert client.get_run(run.info.run_id).info.lifecycle_stage == "deleted"
    refused("INVALID_PARAMETER_VALUE", lambda: client.log_metric(run.info.run_id, "a", 1))
    client.restore_run(run.info.run_id)
    client.log_metric(run.info.run_id, "a", 1)


@step
def asynchronously():
    with mlflow.start_run() as run:
        mlflow.log_metric("slow", 1, synchronous=False)
        mlflow.log_params({"late": "1"}, synchronous=False)
    mlflow.flush_async_logging()
    assert client.get_run(run.info.run_id).data.metrics == {"slow": 1.0}


@step
def datasets():
    import pandas

    with mlflow.start_run() as run:
        data = mlflow.data.from_pandas(pandas.DataFrame({"a": [1, 2], "b": [3.0, 4.0]}), name="frame")
        mlflow.log_input(data, context="training")
    inputs = client.get_run(run.info.run_id).inputs.dataset_inputs
    assert [(one.dataset.name, one.tags[0].value) for one in inputs] == [("frame", "training")]
    found = mlflow.search_runs(filter_string="dataset.name = 'frame'")
    assert list(found.run_id) == [run.info.run_id]


@step
def searches():
    found = mlflow.search_runs(filter_string="metrics.loss < 0.3 and params.lr = '0.01'", output_format="list")
    assert [run.info.run_id for run in found] == [known["run"]]
    ordered = mlflow.search_runs(filter_string="params.lr LIKE '0.0%'", order_by=["metrics.loss DESC"], output_format="list")
    assert [run.info.run_name for run in ordered] == ["child", "parent"]
    children = mlflow.search_runs(filter_string=f"tags.mlflow.parentRunId = '{known['run']}'", output_format="list")
    assert [run.info.run_id for run in children] == [known["child"]]
    named = mlflow.search_runs(filter_string="attributes.run_name = 'parent' and attributes.status = 'FINISHED'")
    assert list(named.run_id) == [known["run"]] and named["metrics.acc"][0] == 0.9
    frame = mlflow.search_runs(search_all_experiments=True)
    assert len(frame) >= 4
    first = client.search_runs([known["experiment"]], max_results=2, order_by=["attributes.start_time ASC"])
    second = client.search_runs([known["experiment"]], max_results=2, order_by=["attributes.start_time ASC"], page_token=first.token)
    assert len({run.info.run_id for run in [*first, *second]}) == 4


@step
def artifacts():
    with mlflow.start_run() as run:
        mlflow.log_text("hello", "notes/hello.txt")
        mlflow.log_dict({"a": [1, 2]}, "config.json")
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "sub").mkdir()
            Path(directory, "one.bin").write_bytes(bytes(range(256)) * 4096)
            Path(directory, "sub", "two words.txt").write_text("zwei")
            Path(directory, "empty").write_text("")
            mlflow.log_artifacts(directory, "folder")
            mlflow.log_artifact(Path(directory, "one.bin"))
    run_id = run.info.run_id
    assert {one.path for one in client.list_artifacts(run_id)} == {"notes", "config.json", "folder", "one.bin"}
    assert {one.path for one in client.list_artifacts(run_id, "folder")} == {"folder/one.bin", "folder/sub", "folder/empty"}
    assert mlflow.artifacts.load_text(f"runs:/{run_id}/notes/hello.txt") == "hello"
    assert mlflow.artifacts.load_dict(f"{run.info.artifact_uri}/config.json") == {"a": [1, 2]}
    with tempfile.TemporaryDirectory() as directory:
        local = Path(client.download_artifacts(run_id, "folder", directory))
        assert (local / "one.bin").read_bytes() == bytes(range(256)) * 4096
        assert (local / "sub" / "two words.txt").read_text() == "zwei"
        assert (local / "empty").read_bytes() == b""


@step
def figures():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with mlflow.start_run() as run:
        figure, axis = pyplot.subplots()
        axis.plot([1, 2, 3])
        mlflow.log_figure(figure, "plot.png")
        mlflow.log_table({"a": [1, 2]}, "table.json")
    assert {one.path for one in client.list_artifacts(run.info.run_id)} == {"plot.png", "table.json"}
    assert list(mlflow.load_table("table.json", run_ids=[run.info.run_id])["a"]) == [1, 2]


class Doubler(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input: list[float], params=None) -> list[float]:
        return [2 * one for one in model_input]


@step
def a_model_of_ones_own():
    with mlflow.start_run() as run:
        logged = mlflow.pyfunc.log_model(name="doubler", python_model=Doubler(), pip_requirements=[])
    known["model"] = logged.model_id
    model = mlflow.get_logged_model(logged.model_id)
    assert model.status.name == "READY" and model.name == "doubler" and model.source_run_id == run.info.run_id
    assert client.get_run(run.info.run_id).outputs.model_outputs[0].model_id == logged.model_id
    assert mlflow.pyfunc.load_model(logged.model_uri).predict([1.0, 4.0]) == [2.0, 8.0]
    assert mlflow.pyfunc.load_model(f"runs:/{run.info.run_id}/doubler").predict([3.0]) == [6.0]
    mlflow.set_logged_model_tags(logged.model_id, {"kind": "toy"})
    mlflow.log_metric("score", 0.75, model_id=logged.model_id, run_id=run.info.run_id)
    found = mlflow.search_logged_models(
        experiment_ids=[known["experiment"]], filter_string="tags.kind = 'toy' AND metrics.score > 0.5", output_format="list"
    )
    assert [one.model_id for one in found] == [logged.model_id]


@step
def a_model_of_scikit_learn():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    features, labels = load_iris(return_X_y=True)
    mlflow.autolog(log_models=False, silent=True)
    with mlflow.start_run() as run:
        model = LogisticRegression(max_iter=200).fit(features, labels)
        logged = mlflow.sklearn.log_model(model, name="iris", input_example=features[:2], registered_model_name="iris")
    mlflow.autolog(disable=True)
    params = client.get_run(run.info.run_id).data.params
    assert params["max_iter"] == "200", params
    loaded = mlflow.sklearn.load_model(logged.model_uri)
    assert (loaded.predict(features) == model.predict(features)).all()
    assert mlflow.models.get_model_info(logged.model_uri).signature is not None
    assert (mlflow.pyfunc.load_model("models:/iris/1").predict(features) == model.predict(features)).all()


@step
def the_registry():
    made = client.create_registered_model("doubling", tags={"team": "vision"}, description="doubles")
    assert made.name == "doubling" and client.get_registered_model("doubling").description == "doubles"
    refused("RESOURCE_ALREADY_EXISTS", lambda: client.create_registered_model("doubling"))
    first = mlflow.register_model(f"models:/{known['model']}", "doubling")
    second = mlflow.register_model(f"models:/{known['model']}", "doubling", tags={"a": "1"})
    assert (str(first.version), str(second.version)) == ("1", "2")
    client.update_model_version("doubling", "1", description="the first")
    client.set_model_version_tag("doubling", "1", "checked", "yes")
    version = client.get_model_version("doubling", "1")
    assert version.description == "the first" and version.tags == {"checked": "yes"} and version.status == "READY"
    client.delete_model_version_tag("doubling", "1", "checked")
    client.set_registered_model_tag("doubling", "more", "1")
    client.delete_registered_model_tag("doubling", "more")
    client.update_registered_model("doubling", description="doubles numbers")
    found = client.search_registered_models("name = 'doubling'")
    assert [one.description for one in found] == ["doubles numbers"] and found[0].tags == {"team": "vision"}
    assert {str(one.version) for one in client.search_model_versions("name = 'doubling'")} == {"1", "2"}
    assert mlflow.pyfunc.load_model("models:/doubling/2").predict([2.0]) == [4.0]


@step
def aliases():
    client.set_registered_model_alias("doubling", "best", "1")
    assert str(client.get_model_version_by_alias("doubling", "best").version) == "1"
    assert mlflow.pyfunc.load_model("models:/doubling@best").predict([5.0]) == [10.0]
    client.set_registered_model_alias("doubling", "best", "2")
    assert client.get_registered_model("doubling").aliases == {"best": "2"}
    client.delete_registered_model_alias("doubling", "best")
    refused("INVALID_PARAMETER_VALUE", lambda: client.get_model_version_by_alias("doubling", "best"))


@step
def stages():
    client.transition_model_version_stage("doubling", "1", "Staging")
    assert client.get_model_version("doubling", "1").current_stage == "Staging"
    assert [str(one.version) for one in client.get_latest_versions("doubling", ["Staging"])] == ["1"]
    refused("PERMISSION_DENIED", lambda: client.transition_model_version_stage("doubling", "2", "Production"))
    client.transition_model_version_stage("doubling", "1", "Archived")


@step
def what_goes():
    client.delete_model_version("doubling", "2")
    refused("RESOURCE_DOES_NOT_EXIST", lambda: client.get_model_version("doubling", "2"))
    client.rename_registered_model("doubling", "doubled")
    refused("RESOURCE_DOES_NOT_EXIST", lambda: client.get_registered_model("doubling"))
    assert client.get_model_version("doubled", "1").description == "the first"
    assert mlflow.pyfunc.load_model("models:/doubled/1").predict([2.0]) == [4.0]
    refused("RESOURCE_CONFLICT", lambda: client.rename_registered_model("doubled", "doubling"))
    client.delete_registered_model("doubled")
    refused("RESOURCE_DOES_NOT_EXIST", lambda: client.get_registered_model("doubled"))


if __name__ == "__main__":
    only = sys.argv[1:]
    results = {}
    for function in steps:
        if only and function.__name__ not in only:
            continue
        try:
            function()
            results[function.__name__] = "passed"
        except Exception:
            import traceback

            results[function.__name__] = traceback.format_exc()
    print("RESULT " + json.dumps(results))
    os._exit(0)
