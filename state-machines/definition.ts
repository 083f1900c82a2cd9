import {
  afterHeartbeat,
  choice,
  executionInput,
  recordFailure,
  retries,
  rounds,
  runId,
  type State,
  succeed,
  task,
} from "./fragments";

const [training, heartbeat] = [28 * 24 * 3_600, 900];
const isApproval = "$exists($states.context.Execution.Input.version)";
const failing = { catch: recordFailure } as const;
const trainingWait = {
  waits: true,
  ...failing,
  retry: [afterHeartbeat, ...retries.usual],
  more: { TimeoutSeconds: training, HeartbeatSeconds: heartbeat },
} as const;
const taskToken = "{% $states.context.Task.Token %}";
const conclude = (conclusion: string, more: object = {}) => ({ payload: { runId, conclusion, ...more } });

/** A run: from a dataset version to a judged version of a model. */
const run: Readonly<Record<string, State>> = {
  ...rounds("validate-dataset", {
    state: "ValidateDataset",
    decide: "DecideValidationRound",
    map: "ValidateShards",
    part: "ValidateShardGroup",
    next: "PrepareFeatures",
  }),
  ...rounds("prepare-features", {
    state: "PrepareFeatures",
    decide: "DecideFeatureRound",
    map: "PrepareShards",
    part: "PrepareShardGroup",
    next: "LaunchTraining",
  }),
  LaunchTraining: task("launch-training", {
    payload: { runId, taskToken },
    output: { runId, paused: "{% $states.result.paused = true %}" },
    ...trainingWait,
    next: "EndOfSegment",
  }),
  EndOfSegment: choice({ "$states.input.paused": "Paused" }, "Evaluate"),
  Paused: succeed,
  Evaluate: task("evaluate", {
    payload: executionInput,
    output: {
      runId,
      ends: "{% $exists($states.result.Payload.ends) ? $states.result.Payload.ends : '' %}",
      job: "{% $exists($states.result.Payload.job) ? $states.result.Payload.job : '' %}",
    },
    retry: retries.slow,
    ...failing,
    next: "EndWithEvaluation",
  }),
  EvaluateInBatch: task("launch-training", {
    payload: { runId, taskToken, evaluation: "{% $states.input.job %}" },
    ...trainingWait,
    next: "Evaluate",
  }),
  EndWithEvaluation: choice(
    {
      "$states.input.job != ''": "EvaluateInBatch",
      [isApproval]: "Gate",
      "$states.input.ends != ''": "RecordEvaluation",
    },
    "Register",
  ),
  RecordEvaluation: task("conclude-run", { ...conclude("{% $states.input.ends %}"), ...failing }),
  Register: task("register-model", { payload: { runId }, ...failing, next: "Gate" }),
  Gate: task("evaluate-gates", {
    payload: executionInput,
    output: { runId, passed: "{% $states.result.Payload.passed or $states.result.Payload.pending = true %}" },
    catch: [{ ErrorEquals: ["CHAMPION_CHANGED"], Next: "Evaluate" }, ...recordFailure],
    next: "DecideByGate",
  }),
  DecideByGate: choice({ [isApproval]: "AwaitApproval", "$states.input.passed": "RequestApproval" }, "RecordRefusal"),
  RequestApproval: task("request-approval", { payload: { runId }, ...failing, next: "RecordRegistration" }),
  RecordRegistration: task("conclude-run", { ...conclude("registered"), ...failing }),
  RecordRefusal: task("conclude-run", { ...conclude("refused-by-gate"), ...failing }),
  RecordFailure: choice({ [isApproval]: "Failed" }, "RecordRunFailure"),
  RecordRunFailure: task("conclude-run", { ...conclude("failed", { error: "{% $error %}" }), next: "Failed" }),
  Failed: { Type: "Fail", Error: "{% $error.Error %}", Cause: "{% $error.Cause %}" },
};

/** An approval: from a judged version to production; its input names the version. */
const approval: Readonly<Record<string, State>> = {
  AwaitApproval: task("request-approval", {
    payload: "{% $merge([$states.context.Execution.Input, {'taskToken': $states.context.Task.Token}]) %}",
    waits: true,
    // Each hour, and when the approval expires, the function looks at the decision itself.
    more: {
      TimeoutSeconds:
        "{% $min([3600, $max([1, $ceil(($toMillis($states.context.Execution.Input.expiresAt) - $millis()) / 1000)])]) %}",
    },
    retry: [
      { ErrorEquals: ["States.Timeout"], IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: 10_000 },
      ...retries.usual,
    ],
    catch: [
      { ErrorEquals: ["ApprovalRejected"], Next: "RecordRejection" },
      { ErrorEquals: ["ApprovalExpired", "GateRefused"], Next: "NotPromoted" },
    ],
    next: "Promote",
  }),
  Promote: task("promote", {
    payload: executionInput,
    catch: [
      { ErrorEquals: ["GATE_OUTDATED"], Next: "Gate" },
      { ErrorEquals: ["NOT_APPROVED", "CANARY_UNDER_TEST"], Next: "AwaitApproval" },
      { ErrorEquals: ["GATE_NOT_PASSED", "MODEL_VERSION_NOT_FOUND", "MODEL_NOT_FOUND"], Next: "NotPromoted" },
    ],
    next: "Promoted",
  }),
  Promoted: succeed,
  RecordRejection: task("conclude-run", {
    payload: "{% $merge([$states.context.Execution.Input, {'conclusion': 'rejected'}]) %}",
    next: "NotPromoted",
  }),
  NotPromoted: succeed,
};

const reference = "{% $states.context.Execution.Input.step %}";
const attempt = "{% $states.input.attempt %}";
const long = retries.slow.map((each) =>
  "JitterStrategy" in each ? { ...each, MaxAttempts: 30, MaxDelaySeconds: 60 } : each,
);
const ended = [
  { ErrorEquals: ["States.ALL"], Output: { attempt, error: "{% $states.errorOutput %}" }, Next: "EndStep" },
];

/** A step of a pipeline, or one item of it: its input names the step. Attempts and polls go round by `PauseStep`. */
const step: Readonly<Record<string, State>> = {
  BeginStep: task("pipeline-step", {
    payload: { op: "begin", step: reference, polls: "{% $exists($states.input.polls) ? $states.input.polls : 0 %}" },
    output:
      "{% $merge([$states.result.Payload, {'polls': $exists($states.input.polls) ? $states.input.polls + 1 : 1}]) %}",
    retry: long,
    next: "ChooseStep",
  }),
  ChooseStep: choice(
    {
      "$states.input.next = 'call'": "CallStep",
      "$states.input.next = 'wait'": "AwaitStep",
      "$states.input.next = 'poll'": "PauseStep",
    },
    "StepDone",
  ),
  CallStep: task("{% $states.input.call.function %}", {
    payload: "{% $states.input.call.payload %}",
    more: { TimeoutSeconds: "{% $states.input.seconds %}" },
    output: { attempt, kind: "{% $states.input.call.kind %}", result: "{% $states.result.Payload %}" },
    retry: retries.uncalled,
    // A URL may have expired while the call waited.
    catch: [{ ErrorEquals: ["MODULE_UNAVAILABLE"], Output: { seconds: 2 }, Next: "PauseStep" }, ...ended],
    next: "EndStep",
  }),
  AwaitStep: task("pipeline-step", {
    payload: { op: "launch", step: reference, attempt, resolved: "{% $states.input.resolved %}", taskToken },
    waits: true,
    more: { TimeoutSeconds: "{% $states.input.seconds %}" },
    output: { attempt, end: "{% $states.result %}" },
    retry: long,
    catch: ended,
    next: "EndStep",
  }),
  EndStep: task("pipeline-step", {
    payload: "{% $merge([$states.input, {'op': 'end', 'step': $states.context.Execution.Input.step}]) %}",
    output: "{% $states.result.Payload %}",
    retry: long,
    next: "DecideRetry",
  }),
  DecideRetry: choice({ "$exists($states.input.seconds)": "PauseStep" }, "StepDone"),
  PauseStep: { Type: "Wait", Seconds: "{% $states.input.seconds %}", Next: "BeginStep" },
  StepDone: succeed,
};

/** Returns the definition of the state machine. `${name}` in it means the function `lambdas/name`. */
export const stateMachineText = (): string =>
  JSON.stringify({
    QueryLanguage: "JSONata",
    StartAt: "Begin",
    TimeoutSeconds: 365 * 24 * 3_600,
    States: {
      Begin: choice(
        { "$exists($states.input.step)": "BeginStep", "$exists($states.input.version)": "AwaitApproval" },
        "ValidateDataset",
      ),
      ...run,
      ...approval,
      ...step,
    },
  });
