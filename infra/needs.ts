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
  | "executions"
  | "task-tokens"
  | "jobs"
  | "worker-logs"
  | "gangs"
  | "ingest";

export const needs: Readonly<Record<FunctionName, readonly Need[]>> = {
  api: ["catalog", "metrics:read", "objects:read", "objects:write", "executions", "task-tokens", "jobs", "worker-logs"],
  "validate-dataset": ["catalog", "objects:read", "objects:write"],
  "prepare-features": ["catalog", "objects:read", "objects:write"],
  "launch-training": ["catalog", "objects:read", "objects:write", "task-tokens", "jobs"],
  "finish-training": ["catalog", "objects:read", "objects:write", "task-tokens", "jobs"],
  evaluate: ["catalog", "objects:read", "objects:write"],
  "register-model": ["catalog", "objects:read", "objects:write"],
  "evaluate-gates": ["catalog", "objects:read"],
  "request-approval": ["catalog", "task-tokens"],
  promote: ["catalog"],
  "conclude-run": ["catalog", "jobs"],
  "ingest-metrics": ["catalog", "metrics:write"],
  "reconcile-runs": ["catalog", "objects:read", "objects:write", "task-tokens", "jobs", "executions"],
};

/** What the trainers in Batch may do. */
export const trainerNeeds: readonly Need[] = ["gangs", "objects:read", "objects:write", "ingest"];
