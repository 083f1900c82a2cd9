import { gateStep } from "../../core/registry/gates/step";
import { runStep } from "../../core/runs/step";
import { returnToEarlierStep } from "../../core/runs/step-return";
import { stepHandler } from "../step-handler";

/** Records the gates' verdict on the run's version. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { output } = await returnToEarlierStep(platform, runId, "Gate", () =>
    runStep(platform, runId, gateStep(platform)),
  );
  return output;
});
