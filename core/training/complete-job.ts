import type { NextMove } from "../runs/attempts";
import { completeTraining } from "./complete-training";
import { completeEvaluation } from "./evaluation-job";
import type { NextMoveDependencies } from "./next-move";

/**
 * Inspects the run's job, of its training or of its evaluation, and continues the work. Each does nothing in another
 * phase of the run.
 */
export async function completeJob(dependencies: NextMoveDependencies, runId: string): Promise<NextMove["move"]> {
  const run = await dependencies.runs.find(runId);
  return run?.phase === "Evaluate" ? completeEvaluation(dependencies, runId) : completeTraining(dependencies, runId);
}
