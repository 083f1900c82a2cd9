import type { DatasetRepository } from "../../../../core/datasets/repository";
import { recordGate } from "../../../../core/registry/transitions";
import { beginStep, finishStep, outputOf } from "../../../../core/runs/step";
import { trainingKind } from "../../../../core/runs/training-task";
import { beginTraining } from "../../../../core/training/begin-training";
import { closeRunByConclusion } from "../../../../core/training/conclusion";
import type { Invocation } from "./states";
import type { Ports } from "./world";

export const runId = "run-a";

/** There is one run only, and so no training to reuse. */
const refuse = () => Promise.reject(new Error("no metrics are to be copied"));
const noMetrics = { summaries: refuse, readAfter: refuse, append: refuse };
const noDatasets = {} as DatasetRepository;

/** Executes the functions of `lambdas/` with the same calls of core. The steps around training are short. */
export async function perform(ports: Ports, { state, token, conclusion, error }: Invocation): Promise<void> {
  const actor = { by: "test", at: "2026-01-01T00:00:00.000Z" };
  switch (state) {
    case "ValidateDataset":
      await beginStep(ports, runId, "ValidateDataset");
      return;
    case "LaunchTraining":
      await beginTraining({ ...ports, metrics: noMetrics, datasets: noDatasets }, runId, token!);
      return;
    case "Register": {
      const details = await beginStep(ports, runId, "Register");
      const { weightsSha256 } = outputOf(details, trainingKind);
      const version = await ports.registry.register("default", versionOf(weightsSha256), actor, { runId });
      await ports.registry.apply(
        "digits",
        [version],
        recordGate(version, { passed: true, at: actor.at, checks: [] }, actor),
      );
      const from = { runId, output: { model: "digits", version } };
      await finishStep(ports, runId, { step: "Register" }, "h", from, actor.at);
      return;
    }
    default:
      await closeRunByConclusion(ports, runId, conclusion!, error);
  }
}

const versionOf = (weightsSha256: string) => ({
  model: "digits",
  runId,
  weightsSha256,
  artifactKey: "k",
  dataset: { name: "digits", version: 1, digest: "d" },
  metrics: {},
  evaluationReport: { sha256: "e", bytes: 1 },
});
