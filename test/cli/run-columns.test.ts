import { cellOf, checkColumns, usualColumns } from "../../cli/run-columns";
import type { Answer } from "../../client/operations";

import { metricsOf, runOf } from "../core/tracking/search/runs";

type SearchedRun = Answer<"searchRuns">["runs"][number];

const run = {
  run: runOf("a", { params: { "hyperparameters.learningRate": "0.01", depth: "3" }, tags: { host: "lab-2" } }),
  metrics: metricsOf({ "validation/loss": 0.25, "train/loss": 0.5, "system/cpu": 1 }),
} as unknown as SearchedRun;

it.each([
  ["metrics.val_loss", "0.25"],
  ["metrics.validation/loss", "0.25"],
  ["metrics.`validation/loss`", "0.25"],
  ["metrics.`val_loss`", "–"],
  ["metrics.none", "–"],
  ["params.learning_rate", "0.01"],
  ["params.depth", "3"],
  ["params.constructor", "–"],
  ["tags.host", "lab-2"],
  ["tags.none", "–"],
])("column %s of a run is %s, as a filter would find it", (column, cell) => {
  expect(cellOf(run, column)).toBe(cell);
});

it("shows what the order is about, and metrics that it has not named", () => {
  expect(usualColumns([run], ["metrics.val_loss DESC, params.depth", "start_time"])).toEqual([
    "metrics.val_loss",
    "params.depth",
    "metrics.train/loss",
  ]);
  expect(usualColumns([run], [])).toEqual(["metrics.validation/loss", "metrics.train/loss"]);
});

it.each(["depth", "metrics.", "dataset.name", ""])("%j is no column", (column) => {
  expect(() => checkColumns(["metrics.loss", column])).toThrow("must be metrics.NAME, params.NAME or tags.NAME");
});
