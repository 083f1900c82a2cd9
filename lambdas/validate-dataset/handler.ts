import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { teamObjects } from "../../adapters/s3/object-store";
import { runSteps } from "../../adapters/team-runs";
import { validationStep } from "../../core/datasets/validation-step";
import { runStep } from "../../core/runs/step";
import { warningsOf } from "../../core/shapes";
import { stepHandler } from "../step-handler";
import { validateDataset } from "./validate";

/** Validates the run's dataset version. */
export const handler = stepHandler(
  {
    runs: runSteps("use", "produce"),
    cache: stepCache("read", "write"),
    datasets: datasets("read", "annotate"),
    objects: teamObjects("read", "write"),
  },
  async (ports, { runId }) => {
    const { objects, logger } = ports;
    const step = validationStep(ports, (manifest) => validateDataset({ manifest, objects }));
    const { output, reusedFrom } = await runStep(ports, runId, step);
    for (const { code, message } of warningsOf(output)) logger.log("warn", message, { code });
    return { rowCount: output.rowCount, reusedFrom };
  },
);
