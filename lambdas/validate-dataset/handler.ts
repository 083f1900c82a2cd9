import { validationStep } from "../../core/datasets/validation-step";
import { runStep } from "../../core/runs/step";
import { warningsOf } from "../../core/warnings";
import { stepHandler } from "../step-handler";
import { validateDataset } from "./validate";

/** Validates the run's dataset version. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { objects, logger } = platform;
  const step = validationStep(platform, (manifest) => validateDataset({ manifest, objects }));
  const { output, reusedFrom } = await runStep(platform, runId, step);
  for (const { code, message } of warningsOf(output)) logger.log("warn", message, { code });
  return { rowCount: output.rowCount, reusedFrom };
});
