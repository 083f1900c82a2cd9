/** The Python module that `mlflow.pyfunc` imports. Its name has a version, because a process imports a module once. */
export const loaderModule = "ringmaster_pyfunc_1";

/** Source of the loader. It reads raw rows by the rules of `core/features/transform.ts`, and runs `model.onnx`. */
export const loaderSource = `"""Runs a model that Ringmaster exported: raw rows in, labels and probabilities (or values) out.

MLflow's own ONNX loader takes neither text columns of pandas 3 nor missing values, and whole numbers only where the
file says int64. This one reads a DataFrame by the model's own schema (transform.json).
"""

import json
import os

import numpy
import onnxruntime
import pandas
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

MAX_PROBLEMS = 20
EPOCH = pandas.Timestamp(0, tz="UTC")


def _load_pyfunc(directory):
    return Predictor(directory)


class Predictor:
    def __init__(self, directory):
        self.session = onnxruntime.InferenceSession(
            os.path.join(directory, "model.onnx"), providers=["CPUExecutionProvider"]
        )
        about = self.session.get_modelmeta().custom_metadata_map
        self.inputs = json.loads(about["columns"])
        self.missing_text = about["missing_text"]
        with open(os.path.join(directory, "transform.json"), encoding="utf-8") as file:
            self.columns = {column["name"]: column for column in json.load(file)["columns"]}

    def get_raw_model(self):
        return self.session

    def predict(self, data, params=None):
        """Takes a DataFrame of raw columns, or what pandas.DataFrame takes. None, NaN and NaT are missing values."""
        frame = data if isinstance(data, pandas.DataFrame) else pandas.DataFrame(data)
        problems = []
        feeds = {each["input"]: self._feed(frame, each, problems) for each in self.inputs}
        if problems:
            more = f" (and {len(problems) - MAX_PROBLEMS} more)" if len(problems) > MAX_PROBLEMS else ""
            text = "; ".join(problems[:MAX_PROBLEMS])
            raise MlflowException(
                f"the rows do not fit the model's input schema: {text}{more}", error_code=INVALID_PARAMETER_VALUE
            )
        answers = self.session.run(None, feeds)
        if len(answers) == 1:
            return pandas.DataFrame({"value": answers[0]}, index=frame.index)
        labels, probabilities = answers
        return pandas.DataFrame({"label": labels, "probabilities": probabilities.tolist()}, index=frame.index)

    def _feed(self, frame, entry, problems):
        name = entry["column"]
        column = self.columns[name]
        values = list(frame[name]) if name in frame else [None] * len(frame)
        nullable = column.get("nullable", False)
        read = READERS[column["type"]](column)
        blank = self.missing_text if entry["type"] == "string" else numpy.nan
        if entry["type"] == "float":
            blank = numpy.full(int(numpy.prod(entry["shape"])), numpy.nan, dtype=numpy.float32)
        rows = []
        for row, value in enumerate(values):
            if is_missing(value):
                found, problem = blank, None if nullable else "is missing"
            else:
                found, rule = read(value)
                problem = rule and f"= {value!r:.80} {rule}"
            if problem:
                problems.append(f"rows[{row}].{name} {problem}")
            rows.append(blank if problem else found)
        dtype = {"string": object, "float": numpy.float32, "double": numpy.float64}[entry["type"]]
        return numpy.array(rows, dtype=dtype).reshape([len(rows), *entry["shape"]])


def is_missing(value):
    return value is None or (pandas.api.types.is_scalar(value) and pandas.isna(value))


def is_number(value):
    return isinstance(value, (int, float, numpy.number)) and not isinstance(value, (bool, numpy.bool_))


def read_text(column):
    return lambda value: (value, None) if isinstance(value, str) else (None, "must be text")


def read_whole(column):
    def read(value):
        fits = is_number(value) and numpy.isfinite(value) and value == int(value) and abs(value) < 2**53
        return (float(value), None) if fits else (None, "must be a whole number within 2^53")

    return read


def read_number(column):
    def read(value):
        fits = is_number(value) and numpy.isfinite(value)
        return (float(value), None) if fits else (None, "must be a finite number")

    return read


def read_bool(column):
    def read(value):
        if isinstance(value, (bool, numpy.bool_)) or (is_number(value) and value in (0, 1)):
            return float(value), None
        return None, "must be true or false"

    return read


def read_time(column):
    def read(value):
        if is_number(value):
            return numpy.floor(float(value)), None
        try:
            if isinstance(value, str):
                time = pandas.to_datetime(value, utc=True, format="ISO8601")
            else:
                time = pandas.Timestamp(value)
                time = time.tz_localize("UTC") if time.tzinfo is None else time
            return float((time - EPOCH) // pandas.Timedelta(milliseconds=1)), None
        except (TypeError, ValueError):
            return None, "must be a time: ISO 8601, a datetime, or milliseconds since 1970"

    return read


def read_tensor(column):
    size = int(numpy.prod(column["shape"]))

    def read(value):
        try:
            numbers = numpy.asarray(flat(value), dtype=numpy.float64)
        except (TypeError, ValueError):
            return None, f"must be {size} numbers"
        if numbers.size != size or not numpy.isfinite(numbers).all():
            return None, f"must be {size} finite numbers (shape {column['shape']}), and has {numbers.size}"
        return numbers.astype(numpy.float32), None

    return read


def flat(value):
    """A nested list or array, also an array of arrays (as Parquet gives them), as one list."""
    if isinstance(value, numpy.ndarray) and value.dtype != object:
        return value.reshape(-1)
    if not isinstance(value, (list, tuple, numpy.ndarray)):
        raise TypeError
    nested = (flat(each) if isinstance(each, (list, tuple, numpy.ndarray)) else [each] for each in value)
    return [number for part in nested for number in part]


READERS = {
    "string": read_text,
    "int": read_whole,
    "float": read_number,
    "bool": read_bool,
    "timestamp": read_time,
    "tensor": read_tensor,
}
`;
