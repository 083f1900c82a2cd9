import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { outboxIndex } from "../../adapters/dynamodb/model-repository";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { executions, taskTokens } from "../../adapters/stepfunctions/executions";
import { outbox } from "../../adapters/team-registry";
import { openRuns, runs } from "../../adapters/team-runs";
import { sweepOutbox } from "../../core/registry/outbox";
import { reconcileAll } from "../../core/training/reconcile";
import { functionHandler } from "../function-handler";

/** Time that is reserved for running work. A run needs half a second of calls, and more with a slow service. */
const reserveMs = 10_000;

/** Each minute: publishes changes of models whose process died, looks after every open run, and measures how many are in each state. */
export const handler = functionHandler(
  {
    shared: {
      openRuns: openRuns("list"),
      outboxIndex: outboxIndex("list"),
      jobs: trainingJobs("look", "submit", "terminate"),
      tokens: taskTokens("answer", "heartbeat"),
      executions: executions("start", "stop", "status"),
      runEvents: platformEvents("publish"),
      meter: meter(),
    },
    team: {
      runs: runs("details", "steps", "produce", "attempts", "end"),
      outbox: outbox("publish"),
      cache: stepCache("read", "write"),
      objects: teamObjects("read", "write", "upload"),
    },
  },
  async ({ clock, meter, logger, openRuns, outboxIndex, forTeam }, _event: unknown, context) => {
    const until = clock.now() + context.getRemainingTimeInMillis() - reserveMs;
    await sweepOutbox(outboxIndex, {
      outboxOf: (team) => forTeam(team).outbox,
      clock,
      // Runs must not wait for a bus that is slow.
      until: clock.now() + (until - clock.now()) / 3,
      onError: (model, error) => logger.log("error", "cannot publish a model's changes", { model, error }),
    });
    await reconcileAll(await openRuns.listOpen(), {
      forTeam,
      meter,
      clock,
      until,
      onDone: (runId, state) => logger.log("debug", "reconciled", { runId, state }),
      onError: (runId, error) => logger.log("error", "cannot reconcile", { runId, error }),
    });
  },
);
