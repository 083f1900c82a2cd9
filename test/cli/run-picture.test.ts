import { stripVTControlCharacters } from "node:util";
import { drawRun } from "../../cli/watch";
import type { RunDetails } from "../../core/runs/shapes";
import { runOf } from "../support/fixtures";

const details: RunDetails = {
  run: runOf("run-1", { status: "running", phase: "LaunchTraining" }),
  steps: [
    {
      step: "ValidateDataset",
      inputHash: "h",
      output: {},
      startedAt: "2026-01-01T00:00:00.000Z",
      finishedAt: "2026-01-01T00:01:05.000Z",
    },
    {
      step: "PrepareFeatures",
      inputHash: "h",
      output: {},
      reusedFrom: "run-0",
      startedAt: "2026-01-01T00:01:05.000Z",
      finishedAt: "2026-01-01T00:01:05.000Z",
    },
  ],
  attempts: [],
  workers: [],
  machines: [],
  recoveries: [],
  warnings: [],
  progress: {
    step: 50,
    totalSteps: 100,
    epoch: 1,
    epochs: 4,
    generation: 2,
    worldSize: 1,
    loss: 0.25,
    samplesPerSecond: 640,
    backend: "wasm",
    workers: [{ rank: 0, memberId: "m", workerIndex: 0, host: "h", pid: 42, state: "training", step: 50 }],
  },
};

describe("the picture of a run", () => {
  it("shows its steps, a bar for each worker, loss, speed and what is left", () => {
    expect(drawRun(details, 90).map(stripVTControlCharacters)).toEqual([
      "run-1  running  LaunchTraining",
      "  ✔ ValidateDataset  1m 05s",
      "  ↺ PrepareFeatures  reused from run-0",
      "  ▸ LaunchTraining",
      "  · Evaluate",
      "  · Register",
      "  · Gate",
      // 50 steps of 128 samples at 640 samples a second: 10 s.
      "  loss 0.2500   640 samples/s   epoch 1/4   ETA 10.0 s   generation 2   wasm",
      `  rank 0 ${"█".repeat(20)}${"░".repeat(20)} 50/100  pid 42  training`,
    ]);
  });

  it("never wraps", () => {
    for (const columns of [20, 40, 80]) {
      const widths = drawRun(details, columns).map((line) => stripVTControlCharacters(line).length);
      expect(Math.max(...widths)).toBeLessThan(columns);
    }
  });
});
