import { featuresStep } from "../../core/features/step";
import { runStep } from "../../core/runs/step";
import { stepHandler } from "../step-handler";
import { prepareFeatures } from "./prepare";

/** Materialises the run's features. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { objects } = platform;
  const step = featuresStep(platform, (manifest, job, inputHash) =>
    prepareFeatures({ manifest, job, objects, inputHash }),
  );
  const { output, reusedFrom } = await runStep(platform, runId, step);
  return { rows: output.rows, reusedFrom };
});
