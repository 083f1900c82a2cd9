"""Serves raw rows with an exported model.onnx and nothing of the platform: {"directory", "rows"} a line in, answers a line out."""

import json
import pathlib
import sys

import onnxruntime
from raw_rows import feed


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
