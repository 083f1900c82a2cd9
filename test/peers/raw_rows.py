"""Converts raw rows to the inputs of exported models."""

import datetime

import numpy


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
