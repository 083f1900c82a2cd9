"""Loads a model by its URI and predicts a JSON file's rows: answers and what was loaded as JSON. Registers a run's model."""

import json
import os
import sys

import mlflow
import pandas

uri, file, again = sys.argv[1:]
with open(file, encoding="utf-8") as source:
    rows = json.load(source)
model = mlflow.pyfunc.load_model(uri)
answers = model.predict(pandas.DataFrame(rows)).to_dict("records")

# One row at a time: pandas then makes other types of whole numbers and missing values.
for row, answer in list(zip(rows, answers))[:10]:
    [alone] = model.predict(pandas.DataFrame([row])).to_dict("records")
    near = [abs(a - b) <= 1e-5 for a, b in zip(alone.get("probabilities", []), answer.get("probabilities", []))]
    assert alone.get("label") == answer.get("label") and all(near), (row, alone, answer)

assert len(model.predict(model.input_example)) == 3
name = model.metadata.get_input_schema().input_names()[0]
try:
    model.predict(pandas.DataFrame([{**rows[0], name: "not a value"}]))
    raise AssertionError("a text was taken for a number")
except mlflow.exceptions.MlflowException as error:
    assert f"rows[0].{name} = 'not a value' must be" in str(error), error

directory = mlflow.artifacts.download_artifacts(uri)
import mlflow.onnx  # noqa: E402

loaded = mlflow.onnx.load_model(uri)
print(
    json.dumps(
        {
            "answers": answers,
            "registered": mlflow.register_model(uri, again).version if uri.startswith("runs:/") else None,
            "files": sorted(os.listdir(directory)),
            "onnx": [each.name for each in loaded.graph.input],
            "columns": model.metadata.get_input_schema().input_names(),
        }
    )
)
