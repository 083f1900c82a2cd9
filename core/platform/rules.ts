import type { FunctionName } from "./functions";

/** The EventBridge rules: the one list that `infra/` deploys and `local/` puts on its bus. */
export interface RuleDefinition {
  readonly name: string;
  readonly description: string;
  readonly target: FunctionName;
  /** One of the two. */
  readonly pattern?: Readonly<Record<string, unknown>>;
  readonly schedule?: string;
}

export const rules: readonly RuleDefinition[] = [
  {
    name: "training-job-changed",
    description: "A trainer's Batch job changed: record its state; at its end give the state machine its answer.",
    target: "finish-training",
    pattern: {
      source: ["aws.batch"],
      "detail-type": ["Batch Job State Change"],
      // Every transition is recorded as the worker's state; the ends are acted upon.
      detail: { status: ["RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"] },
    },
  },
  {
    name: "execution-ended",
    description: "An execution was stopped, failed or timed out: end its Batch job and its run's row.",
    target: "finish-training",
    pattern: {
      source: ["aws.states"],
      "detail-type": ["Step Functions Execution Status Change"],
      detail: { status: ["ABORTED", "FAILED", "TIMED_OUT"] },
    },
  },
  {
    name: "reconcile-runs",
    description:
      "Each minute: start runs whose start was lost, heartbeat those that train, end those whose event was lost.",
    target: "reconcile-runs",
    schedule: "rate(1 minute)",
  },
];
