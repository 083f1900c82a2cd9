import { randomBytes } from "node:crypto";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { registryReads } from "../../adapters/dynamodb/model-repository";
import { retraining, retrainingIndex } from "../../adapters/dynamodb/retraining-repository";
import { teamObjects } from "../../adapters/s3/object-store";
import { retrainingSchedules } from "../../adapters/scheduler/retraining-schedules";
import { executions } from "../../adapters/stepfunctions/executions";
import { runs } from "../../adapters/team-runs";
import { functionHandler } from "../function-handler";
import type { RetrainEvent } from "./events";
import { createRetrainHandler } from "./retrain";

/** Receives events from EventBridge and its Scheduler, and starts the runs that rules ask for: one for each cause. */
export const handler = functionHandler(
  {
    shared: {
      retrainingIndex: retrainingIndex("list"),
      schedules: retrainingSchedules("write", "list"),
      executions: executions("start"),
      meter: meter(),
    },
    team: {
      runs: runs("create", "steps"),
      datasets: datasets("read", "resolve"),
      registry: registryReads(),
      objects: teamObjects("read", "write"),
      retraining: retraining("read", "write"),
    },
  },
  async (ports, event: RetrainEvent) => {
    await createRetrainHandler(ports, ports.logger, () => randomBytes(8).toString("hex"))(event);
  },
);
