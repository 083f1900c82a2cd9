import type { Json, JsonObject } from "./json";

/** The default of AWS, JSONPath, is not implemented. */
export type QueryLanguage = "JSONata";
export type StateType = "Task" | "Pass" | "Choice" | "Wait" | "Parallel" | "Map" | "Succeed" | "Fail";

export const resources: readonly string[] = [
  "arn:aws:states:::lambda:invoke",
  "arn:aws:states:::lambda:invoke.waitForTaskToken",
];

export interface Container {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
  readonly ProcessorConfig?: { readonly Mode?: "INLINE" | "DISTRIBUTED"; readonly ExecutionType?: "STANDARD" };
}

export interface StateMachine extends Container {
  readonly Comment?: string;
  readonly Version?: string;
  readonly QueryLanguage?: QueryLanguage;
  readonly TimeoutSeconds?: number;
}

export interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds?: number;
  readonly BackoffRate?: number;
  readonly MaxAttempts?: number;
  readonly MaxDelaySeconds?: number;
  readonly JitterStrategy?: "FULL" | "NONE";
}

export interface Catcher {
  readonly ErrorEquals: readonly string[];
  readonly Next: string;
  readonly Assign?: JsonObject;
  readonly Output?: Json;
}

export interface ChoiceRule {
  readonly Next?: string;
  readonly Assign?: JsonObject;
  readonly Output?: Json;
  readonly Condition?: string | boolean;
}

/** A state of any type. Validation has checked that the fields fit its type. */
export interface State {
  readonly Type: StateType;
  readonly QueryLanguage?: QueryLanguage;
  readonly Comment?: string;
  readonly Next?: string;
  readonly End?: boolean;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly Catcher[];
  readonly Assign?: JsonObject;
  readonly Arguments?: Json;
  readonly Output?: Json;
  readonly Items?: Json;
  readonly ItemSelector?: Json;
  readonly Resource?: string;
  readonly TimeoutSeconds?: number | string;
  readonly HeartbeatSeconds?: number | string;
  readonly Seconds?: number | string;
  readonly Timestamp?: string;
  readonly Choices?: readonly ChoiceRule[];
  readonly Default?: string;
  readonly Branches?: readonly Container[];
  readonly ItemProcessor?: Container;
  readonly MaxConcurrency?: number | string;
  /** The name of the child executions of a distributed Map. */
  readonly Label?: string;
  readonly Error?: string;
  readonly Cause?: string;
}
