import { loadPredictor } from "../../adapters/tfjs/predictor";
import { evaluationStep } from "../../core/evaluation/step";
import { runStep } from "../../core/pipelines/step";
import { stepHandler } from "../step-handler";

/** Evaluates the run's model on the test split. */
export const handler = stepHandler(async (platform, { runId }) => {
  const { output, reusedFrom } = await runStep(platform, runId, evaluationStep(platform, loadPredictor));
  return { metrics: output.metrics, reusedFrom };
});
