import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { registryReads } from "../../adapters/dynamodb/model-repository";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { runs } from "../../adapters/team-runs";
import { type Conclusion, closeRunByConclusion, type StateError } from "../../core/training/conclusion";
import { type StepEvent, stepHandler } from "../step-handler";

interface ConcludeEvent extends StepEvent {
  readonly conclusion: Conclusion;
  readonly error?: StateError;
}

/** Writes the run's end into its row. The first end stands. */
export const handler = stepHandler(
  {
    runs: runs("details", "end"),
    registry: registryReads(),
    objects: teamObjects("read"),
    jobs: trainingJobs("look", "terminate"),
    runEvents: platformEvents("publish"),
    meter: meter(),
  },
  async ({ logger, team, ...ports }, { runId, conclusion, error, model }: ConcludeEvent) => {
    if (model !== undefined) {
      // The end of an approval. Its run has ended before.
      ports.meter.emit({ ModelsRejected: 1 }, team, { runId });
      return {};
    }
    const { status, failure } = await closeRunByConclusion(ports, runId, conclusion, error);
    if (failure) logger.log("warn", "run failed", { failure });
    return { status };
  },
);
