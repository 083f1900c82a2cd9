import { randomBytes } from "node:crypto";
import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { registryReads } from "../../adapters/dynamodb/model-repository";
import { pipelines } from "../../adapters/dynamodb/pipeline-repository";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { triggerIndex, triggers } from "../../adapters/dynamodb/trigger-repository";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { teamObjects } from "../../adapters/s3/object-store";
import { triggerSchedules } from "../../adapters/scheduler/trigger-schedules";
import { executions, taskTokens } from "../../adapters/stepfunctions/executions";
import { runs } from "../../adapters/team-runs";
import { functionHandler } from "../function-handler";
import type { TriggerEvent } from "./events";
import { createTriggerHandler } from "./fire-triggers";

/** Receives events from EventBridge and its Scheduler, and starts the runs of triggers: one for each cause. */
export const handler = functionHandler(
  {
    shared: {
      triggerIndex: triggerIndex("list"),
      schedules: triggerSchedules("write", "list"),
      executions: executions("start", "stop"),
      jobs: trainingJobs("look", "terminate"),
      tokens: taskTokens("answer"),
      runEvents: platformEvents("publish"),
      meter: meter(),
    },
    team: {
      runs: runs("create", "details", "steps", "end"),
      cache: stepCache("read", "write"),
      datasets: datasets("read", "resolve"),
      registry: registryReads(),
      objects: teamObjects("read", "write"),
      triggers: triggers("read", "write"),
      pipelines: pipelines("read", "write"),
    },
  },
  async (ports, event: TriggerEvent) => {
    await createTriggerHandler(ports, ports.logger, () => randomBytes(8).toString("hex"))(event);
  },
);
