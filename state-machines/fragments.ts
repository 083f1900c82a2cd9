/** States of the States Language in JSONata, with what all of them have in common: retries, catches, waits for tokens. */
export type State = Readonly<Record<string, unknown>>;

export const runId = "{% $states.context.Execution.Input.runId %}";
export const executionInput = "{% $states.context.Execution.Input %}";

const jitter = { BackoffRate: 2, JitterStrategy: "FULL" } as const;
const throttled = "Lambda.TooManyRequestsException";
/** A function could not be called, or its process died. `RETRYABLE`: an error of the domain that may pass. */
const passing = [
  "Lambda.ServiceException",
  "Lambda.AWSLambdaException",
  "Lambda.SdkClientException",
  "Lambda.ClientExecutionTimeoutException",
  "Runtime.ExitError",
  "RETRYABLE",
];
const brief = { IntervalSeconds: 1, MaxAttempts: 6, MaxDelaySeconds: 30, ...jitter };

export const retries = {
  usual: [{ ErrorEquals: [throttled, ...passing.slice(0, 4), "Sandbox.Timedout", ...passing.slice(4)], ...brief }],
  /** A function that takes its whole time limit once may do so again; a third time would waste another quarter of an hour. */
  slow: [
    { ErrorEquals: ["Sandbox.Timedout"], IntervalSeconds: 5, MaxAttempts: 1 },
    { ErrorEquals: [throttled, ...passing], ...brief },
  ],
  /** An account may run fewer functions at a time than a Map starts. The others wait. */
  patient: [
    { ErrorEquals: [throttled], IntervalSeconds: 5, MaxAttempts: 100, MaxDelaySeconds: 60, ...jitter },
    { ErrorEquals: ["Sandbox.Timedout"], IntervalSeconds: 5, MaxAttempts: 1 },
    { ErrorEquals: passing, ...brief },
  ],
  /** The code of a user must not run twice without its knowledge: only calls that did not reach it are repeated. */
  uncalled: [
    {
      ErrorEquals: [throttled, ...passing.slice(0, 3)],
      IntervalSeconds: 1,
      MaxAttempts: 30,
      MaxDelaySeconds: 60,
      ...jitter,
    },
  ],
} as const;

export const afterHeartbeat = {
  ErrorEquals: ["States.HeartbeatTimeout"],
  IntervalSeconds: 1,
  MaxAttempts: 1000,
  MaxDelaySeconds: 30,
  ...jitter,
};

export const recordFailure = [
  { ErrorEquals: ["States.ALL"], Assign: { error: "{% $states.errorOutput %}" }, Next: "RecordFailure" },
];

interface Task {
  readonly payload: unknown;
  readonly next?: string;
  readonly output?: unknown;
  readonly retry?: readonly unknown[];
  readonly catch?: readonly unknown[];
  /** The state waits for the answer to its task token, which the payload has. */
  readonly waits?: boolean;
  readonly more?: State;
}

/** A state that calls a function. `name` is a folder of `lambdas/`, or an expression. */
export function task(
  name: string,
  { payload, next, output = { runId }, retry = retries.usual, waits = false, more = {}, ...rest }: Task,
): State {
  return {
    Type: "Task",
    Resource: `arn:aws:states:::lambda:invoke${waits ? ".waitForTaskToken" : ""}`,
    Arguments: { FunctionName: name.startsWith("{%") ? name : `\${${name}}`, Payload: payload },
    Output: output,
    ...more,
    Retry: retry,
    ...(rest.catch ? { Catch: rest.catch } : {}),
    ...(next === undefined ? { End: true } : { Next: next }),
  };
}

/** @param choices next state by condition */
export const choice = (choices: Readonly<Record<string, string>>, otherwise: string): State => ({
  Type: "Choice",
  Choices: Object.entries(choices).map(([condition, Next]) => ({ Condition: `{% ${condition} %}`, Next })),
  Default: otherwise,
});

export const succeed: State = { Type: "Succeed" };

/** The states of a function that may need a round of parts first: a distributed Map over the same function. */
export function rounds(
  name: string,
  { state, decide, map, part, next }: Readonly<Record<"state" | "decide" | "map" | "part" | "next", string>>,
): Readonly<Record<string, State>> {
  const pending = "{% $exists($states.result.Payload.pending) ? $states.result.Payload.pending : {'parts': 0} %}";
  return {
    [state]: task(name, {
      payload: { runId },
      output: { runId, pending },
      retry: retries.slow,
      catch: recordFailure,
      next: decide,
    }),
    [decide]: choice({ "$states.input.pending.parts > 0": map }, next),
    [map]: {
      Type: "Map",
      Label: map,
      Items: "{% [0..$states.input.pending.parts - 1] %}",
      ItemSelector: {
        runId,
        task: { round: "{% $states.input.pending.round %}", part: "{% $states.context.Map.Item.Value %}" },
      },
      MaxConcurrency: 40,
      ItemProcessor: {
        ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
        StartAt: part,
        States: {
          [part]: task(name, {
            payload: "{% $states.input %}",
            output: { part: "{% $states.input.task.part %}" },
            retry: retries.patient,
          }),
        },
      },
      Output: { runId },
      Catch: recordFailure,
      Next: state,
    },
  };
}
