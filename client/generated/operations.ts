// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../operation";
import { type ContentsOperations, contentsOperations } from "./operations/contents";
import { type DatasetsOperations, datasetsOperations } from "./operations/datasets";
import { type ExperimentsOperations, experimentsOperations } from "./operations/experiments";
import { type ModelsOperations, modelsOperations } from "./operations/models";
import { type NotificationsOperations, notificationsOperations } from "./operations/notifications";
import { type RetrainingOperations, retrainingOperations } from "./operations/retraining";
import { type RunsOperations, runsOperations } from "./operations/runs";
import { type ServingOperations, servingOperations } from "./operations/serving";
import { type SystemOperations, systemOperations } from "./operations/system";
import { type TrainingRunsOperations, trainingRunsOperations } from "./operations/training-runs";

export interface Operations
  extends TrainingRunsOperations,
    DatasetsOperations,
    ModelsOperations,
    ExperimentsOperations,
    RunsOperations,
    ServingOperations,
    ContentsOperations,
    NotificationsOperations,
    RetrainingOperations,
    SystemOperations {}

export const operations: Readonly<Record<keyof Operations, OperationCall>> = {
  ...trainingRunsOperations,
  ...datasetsOperations,
  ...modelsOperations,
  ...experimentsOperations,
  ...runsOperations,
  ...servingOperations,
  ...contentsOperations,
  ...notificationsOperations,
  ...retrainingOperations,
  ...systemOperations,
};
