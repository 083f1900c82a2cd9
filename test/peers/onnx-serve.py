"""Serves raw rows with an exported model.onnx and nothing of the platform: {"directory", "rows"} a line in, answers a line out."""

import datetime
import json
import pathlib
import sys

import numpy
import onnxruntime


def milliseconds(value):
    if not isinstance(value, str):
        return value
    text = value.strip().replace("Z", "+00:00").replace("/", "-")
    time = datetime.datetime.fromisoformat(text)
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.timezone.utc)
    return (time - datetime.datetime.fromtimestamp(0, datetime.timezone.utc)) / datetime.timedelta(milliseconds=1)


def feed(entry, rows, missing):
    values = [row.get(entry["column"]) for row in rows]
    shape = [len(rows), *entry["shape"]]
    if entry["type"] == "string":
        return numpy.array([missing if value is None else value for value in values], dtype=object).reshape(shape)
    if entry["type"] == "float":
        width = numpy.prod(entry["shape"])
        return numpy.array([numpy.full(width, numpy.nan) if value is None else value for value in values], dtype=numpy.float32).reshape(shape)
    return numpy.array([numpy.nan if value is None else milliseconds(value) for value in values], dtype=numpy.float64).reshape(shape)


for line in sys.stdin:
    request = json.loads(line)
    directory = pathlib.Path(request["directory"])
    rows = request["rows"]
    session = onnxruntime.InferenceSession(directory / "model.onnx", providers=["CPUExecutionProvider"])
    about = session.get_modelmeta().custom_metadata_map
    columns = json.loads(about["columns"])
    feeds = {entry["input"]: feed(entry, rows, about["missing_text"]) for entry in columns}
    names = [output.name for output in session.get_outputs()]
    answers = dict(zip(names, (value.tolist() for value in session.run(None, feeds))))
    network = onnxruntime.InferenceSession(directory / "network.onnx", providers=["CPUExecutionProvider"])
    answers["network"] = {
        "inputs": [[port.name, port.type] for port in network.get_inputs()],
        "outputs": [[port.name, port.type] for port in network.get_outputs()],
    }
    print(json.dumps(answers), flush=True)
