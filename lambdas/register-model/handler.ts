import { registrationStep } from "../../core/registry/registration";
import { runStep } from "../../core/runs/step";
import { stepHandler } from "../step-handler";

/** Registers the trained weights as a version of the run's model. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { output, reusedFrom } = await runStep(platform, runId, registrationStep(platform));
  return { ...output, reusedFrom };
});
