"""Serves raw rows with exported SavedModels: {"directory", "rows"} a line in, the outputs a line out."""

import json
import pathlib
import sys

import tensorflow
from raw_rows import feed


def listed(values):
    if values.dtype == object:
        return [value.decode() for value in values]
    return values.tolist()


for line in sys.stdin:
    request = json.loads(line)
    directory = pathlib.Path(request["directory"])
    about = json.loads((directory / "metadata.json").read_text())
    signature = tensorflow.saved_model.load(str(directory)).signatures["serving_default"]
    feeds = {
        entry["input"]: tensorflow.constant(feed(entry, request["rows"], about.get("missing_text", "")))
        for entry in about["columns"]
    }
    answers = {name: listed(value.numpy()) for name, value in signature(**feeds).items()}
    print(json.dumps(answers), flush=True)
