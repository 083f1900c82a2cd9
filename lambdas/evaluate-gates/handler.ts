import { goingBack } from "../../core/pipelines/going-back";
import { runStep } from "../../core/pipelines/step";
import { gateStep } from "../../core/registry/gates/step";
import { stepHandler } from "../step-handler";

/** The gates' verdict on the run's version. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { output } = await goingBack(platform, runId, "Gate", () => runStep(platform, runId, gateStep(platform)));
  return output;
});
