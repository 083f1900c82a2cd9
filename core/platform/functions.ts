/** The Lambda functions: the one list that `infra/` deploys, `local/` serves and the state machines name. */
export interface FunctionDefinition {
  /** Folder under `lambdas/`, and the function's name behind the prefix: `ringmaster-validate-dataset`. */
  readonly name: FunctionName;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Of `/tmp`, where a function puts data on disk; 512 where it does not say. */
  readonly storageMb?: number;
  /** Native or large packages that the bundle leaves outside. */
  readonly externals: readonly ("duckdb" | "tfjs")[];
}

export type FunctionName =
  | "api"
  | "authorize"
  | "validate-dataset"
  | "prepare-features"
  | "launch-training"
  | "finish-training"
  | "evaluate"
  | "register-model"
  | "evaluate-gates"
  | "request-approval"
  | "promote"
  | "conclude-run"
  | "stream-metrics"
  | "ingest-metrics"
  | "run-credentials"
  | "reconcile-runs"
  | "retrain";

export const functions: readonly FunctionDefinition[] = [
  { name: "api", timeoutSeconds: 29, memoryMb: 1024, externals: [] },
  { name: "validate-dataset", timeoutSeconds: 900, memoryMb: 3008, storageMb: 10_240, externals: ["duckdb"] },
  { name: "prepare-features", timeoutSeconds: 900, memoryMb: 3008, storageMb: 10_240, externals: ["duckdb"] },
  { name: "launch-training", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "finish-training", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  // Reads raw rows as well as predicting: the champion has a transform of its own.
  { name: "evaluate", timeoutSeconds: 900, memoryMb: 3008, storageMb: 10_240, externals: ["tfjs", "duckdb"] },
  { name: "register-model", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "evaluate-gates", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "request-approval", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "promote", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "conclude-run", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  // Follows a run for as long as a stream may last.
  { name: "stream-metrics", timeoutSeconds: 900, memoryMb: 512, externals: [] },
  { name: "ingest-metrics", timeoutSeconds: 30, memoryMb: 512, externals: [] },
  { name: "run-credentials", timeoutSeconds: 15, memoryMb: 256, externals: [] },
  { name: "reconcile-runs", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "retrain", timeoutSeconds: 60, memoryMb: 512, externals: [] },
];

/** Not in the list: deployed only where callers bring the tokens of an OpenID provider, and by nobody called but the gateway. */
export const authorizer: FunctionDefinition = { name: "authorize", timeoutSeconds: 15, memoryMb: 256, externals: [] };

export function functionNameIn(prefix: string, name: FunctionName): string {
  return `${prefix}-${name}`;
}
