/** The Lambda functions: the list that `infra/` deploys, `local/` serves and the state machines name. */
export interface FunctionDefinition {
  /** Folder under `lambdas/`. With the prefix it is the function's name: `ringmaster-validate-dataset`. */
  readonly name: FunctionName;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Size of `/tmp`, for functions that write data to disk. Default 512. */
  readonly storageMb?: number;
  /** Native or large packages that are not in the bundle. */
  readonly externals: readonly ("duckdb" | "onnx" | "tfjs")[];
  /**
   * Settings of a function that events invoke asynchronously: the age and number of Lambda's retries, and whether
   * failed events are kept.
   */
  readonly asynchronous?: {
    readonly retries: 0 | 1 | 2;
    readonly maxAgeSeconds: number;
    readonly hasDeadLetterQueue: boolean;
  };
  /** Maximum concurrency, if more would do harm; also reserved with enough `functions.accountConcurrency`. */
  readonly concurrency?: number;
}

const deployed = [
  // Creates and checks exports; loads the packages for them at the first export.
  { name: "api", timeoutSeconds: 29, memoryMb: 1024, externals: ["tfjs", "onnx"] },
  { name: "validate-dataset", timeoutSeconds: 900, memoryMb: 3008, storageMb: 10_240, externals: ["duckdb"] },
  { name: "prepare-features", timeoutSeconds: 900, memoryMb: 3008, storageMb: 10_240, externals: ["duckdb"] },
  { name: "launch-training", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  {
    name: "finish-training",
    timeoutSeconds: 60,
    memoryMb: 512,
    externals: [],
    asynchronous: { retries: 2, maxAgeSeconds: 3_600, hasDeadLetterQueue: true },
    concurrency: 20, // an array of a thousand workers ends at the same time; Batch answers about fifty calls a second
  },
  // Reads raw rows and predicts, because the champion has its own transform.
  { name: "evaluate", timeoutSeconds: 900, memoryMb: 3008, storageMb: 10_240, externals: ["tfjs", "duckdb"] },
  { name: "register-model", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  // Resamples the test split's rows, slice by slice, measures the latency, and waits for hooks.
  { name: "evaluate-gates", timeoutSeconds: 300, memoryMb: 3008, externals: ["tfjs"] },
  { name: "request-approval", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "promote", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  { name: "conclude-run", timeoutSeconds: 60, memoryMb: 512, externals: [] },
  // Follows a run for the maximum duration of a stream.
  { name: "stream-metrics", timeoutSeconds: 900, memoryMb: 512, externals: [], concurrency: 100 }, // a screen that is left open takes one
  { name: "ingest-metrics", timeoutSeconds: 30, memoryMb: 512, externals: [] },
  { name: "run-credentials", timeoutSeconds: 15, memoryMb: 256, externals: [] },
  { name: "continue-job", timeoutSeconds: 30, memoryMb: 512, externals: [] },
  {
    name: "end-sessions",
    timeoutSeconds: 60,
    memoryMb: 256,
    externals: [],
    // After 15 minutes the sessions of the run have expired.
    asynchronous: { retries: 2, maxAgeSeconds: 900, hasDeadLetterQueue: true },
    concurrency: 1, // each writes the same policy, and IAM answers few writes a second
  },
  {
    name: "reconcile-runs",
    timeoutSeconds: 60,
    memoryMb: 512,
    externals: [],
    asynchronous: { retries: 0, maxAgeSeconds: 60, hasDeadLetterQueue: false }, // the next minute repeats it
    concurrency: 1,
  },
  {
    // Holds the digests of all references of an account.
    name: "reclaim-storage",
    timeoutSeconds: 900,
    memoryMb: 1769,
    externals: [],
    asynchronous: { retries: 0, maxAgeSeconds: 60, hasDeadLetterQueue: false }, // the next quarter of an hour repeats it
    concurrency: 1,
  },
  {
    name: "fire-triggers",
    timeoutSeconds: 60,
    memoryMb: 512,
    externals: [],
    asynchronous: { retries: 2, maxAgeSeconds: 21_600, hasDeadLetterQueue: true },
    concurrency: 5,
  },
  {
    name: "pipeline-step",
    timeoutSeconds: 60,
    memoryMb: 1024,
    externals: [],
    asynchronous: { retries: 2, maxAgeSeconds: 3_600, hasDeadLetterQueue: true },
  },
  // Runs users' modules in steps of pipelines; may do nothing in the account.
  { name: "run-module", timeoutSeconds: 900, memoryMb: 3008, storageMb: 10_240, externals: [] },
  {
    // Suggests settings from up to ten thousand trials.
    name: "drive-study",
    timeoutSeconds: 120,
    memoryMb: 1024,
    externals: [],
    asynchronous: { retries: 2, maxAgeSeconds: 3_600, hasDeadLetterQueue: true },
    concurrency: 10, // trials of a study may end at the same time, and each of its changes excludes the others
  },
  {
    // Reads the rows of dataset versions.
    name: "monitor-drift",
    timeoutSeconds: 900,
    memoryMb: 3008,
    storageMb: 10_240,
    externals: ["duckdb"],
    asynchronous: { retries: 0, maxAgeSeconds: 300, hasDeadLetterQueue: false }, // the next sweep repeats it
    concurrency: 5,
  },
  {
    // Reads and writes the files of rows.
    name: "store-features",
    timeoutSeconds: 900,
    memoryMb: 3008,
    storageMb: 10_240,
    externals: ["duckdb"],
    asynchronous: { retries: 2, maxAgeSeconds: 21_600, hasDeadLetterQueue: true },
    concurrency: 10,
  },
  {
    // An attempt may wait half a minute for a receiver.
    name: "notify",
    timeoutSeconds: 120,
    memoryMb: 512,
    externals: [],
    asynchronous: { retries: 2, maxAgeSeconds: 21_600, hasDeadLetterQueue: true },
    concurrency: 5,
  },
  {
    name: "snapshot-dataset",
    timeoutSeconds: 900,
    memoryMb: 3008,
    storageMb: 10_240,
    externals: ["duckdb"],
    asynchronous: { retries: 2, maxAgeSeconds: 21_600, hasDeadLetterQueue: true },
    concurrency: 5, // a folder of a thousand files may be uploaded at the same time
  },
] as const satisfies readonly (Omit<FunctionDefinition, "name"> & { readonly name: string })[];

export type FunctionName = (typeof deployed)[number]["name"] | "authorize";
export const functions: readonly FunctionDefinition[] = deployed;

/** Not in the list: deployed only if callers use tokens of an OpenID provider, and called only by the gateway. */
export const authorizer: FunctionDefinition = { name: "authorize", timeoutSeconds: 15, memoryMb: 256, externals: [] };

export function functionNameIn(prefix: string, name: FunctionName): string {
  return `${prefix}-${name}`;
}
