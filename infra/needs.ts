import type { FunctionName } from "../core/platform/functions";

/**
 * What each function may do, and nothing else. Named by the port of `core/` that it uses; `grants.ts` says which actions on which
 * resources a need stands for.
 */
export type Need =
  | "catalog"
  | "metrics:read"
  | "metrics:write"
  | "objects:read"
  | "objects:write"
  | "objects:delete"
  | "executions:start"
  | "executions:stop"
  | "executions:read"
  | "task-tokens"
  | "jobs:run"
  | "jobs:end"
  | "worker-logs"
  | "gangs"
  | "ingest";

/** `finishTraining`: looks at the job, answers the state machine, ends an attempt or begins the next. */
const training: readonly Need[] = ["catalog", "objects:read", "objects:delete", "task-tokens", "jobs:run", "jobs:end"];

export const needs: Readonly<Record<FunctionName, readonly Need[]>> = {
  api: [
    "catalog",
    "metrics:read",
    "objects:read",
    "objects:write",
    "executions:start",
    "executions:stop",
    "task-tokens",
    "jobs:end",
    "worker-logs",
  ],
  "validate-dataset": ["catalog", "objects:read", "objects:write"],
  "prepare-features": ["catalog", "objects:read", "objects:write"],
  "launch-training": [...training, "objects:write"],
  "finish-training": training,
  evaluate: ["catalog", "objects:read", "objects:write"],
  "register-model": ["catalog", "objects:read", "objects:write"],
  "evaluate-gates": ["catalog"],
  "request-approval": ["catalog", "task-tokens"],
  promote: ["catalog"],
  "conclude-run": ["catalog", "jobs:end"],
  "ingest-metrics": ["catalog", "metrics:write"],
  "reconcile-runs": [...training, "executions:start", "executions:stop", "executions:read"],
};

/** What the trainers in Batch may do. */
export const trainerNeeds: readonly Need[] = ["gangs", "objects:read", "objects:write", "objects:delete", "ingest"];
