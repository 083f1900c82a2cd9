import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { runIdentities } from "../../adapters/dynamodb/run-identities";
import { runKeys } from "../../adapters/dynamodb/run-keys";
import { sharedJobs } from "../../adapters/dynamodb/shared-jobs";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { studies } from "../../adapters/dynamodb/study-repository";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { taskTokens } from "../../adapters/stepfunctions/executions";
import { runs } from "../../adapters/team-runs";
import { continueJob, parseContinueRequest } from "../../core/training/continue-job";
import { functionHandler } from "../function-handler";

/** Gives the trainer of a trial that has ended the next trial of its study. The answer has a secret and is not logged. */
export const handler = functionHandler(
  {
    shared: {
      identities: runIdentities("read"),
      keys: runKeys("read", "create"),
      sharedJobs: sharedJobs("find", "save", "remove"),
      jobs: trainingJobs("look", "submit", "terminate"),
      tokens: taskTokens("answer"),
      runEvents: platformEvents("publish"),
      meter: meter(),
    },
    team: {
      runs: runs("details", "steps", "produce", "attempts", "report", "end"),
      cache: stepCache("read", "write"),
      objects: teamObjects("read", "write", "upload"),
      studies: studies("read"),
    },
  },
  async ({ identities, forTeam }, event: unknown) => {
    const request = parseContinueRequest(event);
    const team = await identities.teamOf(request.runId);
    return team === undefined ? { leave: true } : continueJob(forTeam(team), request);
  },
);
