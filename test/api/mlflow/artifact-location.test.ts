import { resolvedLocation } from "../../../api/mlflow/tracking/experiments";

// The right column is what MLflow 3.17's server, started in /srv/work, answered.
it.each([
  ["a/b", "/srv/work/a/b"],
  ["./z", "/srv/work/z"],
  ["../w", "/srv/work/../w"],
  ["~/x", "/srv/work/~/x"],
  [".", "/srv/work"],
  ["a b/c", "/srv/work/a b/c"],
  ["relative?x=y", "/srv/work/relative?x=y"],
  ["file:x/y", "file:///srv/work/x/y"],
  ["file:", "file:///srv/work"],
  ["file:path?param=value", "file:///srv/work/path?param=value"],
  ["/a/b", "/a/b"],
  ["file:///a/../b", "file:///a/../b"],
  ["s3:/x", "s3:/x"],
  ["s3://bucket/a", "s3://bucket/a"],
  ["mlflow-artifacts:/1", "mlflow-artifacts:/1"],
  ["dbfs:/x", "dbfs:/x"],
])("%s leads to %s", (location, expected) => {
  expect(resolvedLocation(location, "/srv/work")).toBe(expected);
  expect(resolvedLocation(location, undefined)).toBe(location);
});
