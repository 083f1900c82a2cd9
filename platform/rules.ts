import {
  approvalNeeded,
  dataContractBlocked,
  driftDetected,
  featureRows,
  featureViewDue,
  modelChanged,
  monitorDue,
  pipelineEnded,
  runEnded,
  runPaused,
  studyChanged,
} from "./event-names";
import type { FunctionName } from "./functions";
import { arnsOf, type World } from "./permissions/world";
import { driftAlarmPrefix } from "./triggers";

/** The EventBridge rules: the list that `infra/` deploys and `local/` puts on its bus. */
export interface RuleDefinition {
  readonly name: string;
  readonly description: string;
  readonly target: FunctionName;
  /** Either a pattern, of this platform's own resources alone because an account may have others, or a schedule. */
  readonly pattern?: (world: World) => EventPattern;
  readonly schedule?: string;
}

export interface EventPattern {
  readonly source: readonly string[];
  readonly "detail-type": readonly string[];
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Matches this platform's events: any program may use their source, and the prefix names the platform. */
function published(events: readonly { readonly DetailType: string }[], detail: object = {}): RuleDefinition["pattern"] {
  return ({ prefix }) => ({
    source: [runEnded.Source],
    "detail-type": events.map(({ DetailType }) => DetailType),
    detail: { platform: [prefix], ...detail },
  });
}

function objectCreated(wildcard: string): RuleDefinition["pattern"] {
  return ({ bucket }) => ({
    source: ["aws.s3"],
    "detail-type": ["Object Created"],
    detail: { bucket: { name: [bucket] }, object: { key: [{ wildcard }] } },
  });
}

export const rules: readonly RuleDefinition[] = [
  {
    name: "training-job-changed",
    description: "A trainer's Batch job changed: record its state; at its end give the state machine its answer.",
    target: "finish-training",
    pattern: (world) => ({
      source: ["aws.batch"],
      "detail-type": ["Batch Job State Change"],
      detail: {
        jobQueue: arnsOf("job-queues", world).map((arn) => (arn.endsWith("*") ? { prefix: arn.slice(0, -1) } : arn)),
        // Every transition is recorded as the worker's state; ends have further effects.
        status: ["RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"],
      },
    }),
  },
  {
    name: "execution-ended",
    description: "An execution was stopped, failed or timed out: end its Batch job and its run's row.",
    target: "finish-training",
    pattern: (world) => ({
      source: ["aws.states"],
      "detail-type": ["Step Functions Execution Status Change"],
      detail: { stateMachineArn: arnsOf("state-machine", world), status: ["ABORTED", "FAILED", "TIMED_OUT"] },
    }),
  },
  {
    name: "spot-interruption-warning",
    description: "EC2 will take a spot instance back: note it on the worker that runs there.",
    target: "finish-training",
    // The event names only the instance. Instances of other programs are recognised by having no row.
    pattern: () => ({ source: ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"] }),
  },
  {
    name: "reconcile-runs",
    description:
      "Each minute: start runs whose start was lost, send heartbeats for training runs, close runs whose event was lost.",
    target: "reconcile-runs",
    schedule: "rate(1 minute)",
  },
  {
    name: "reclaim-storage",
    description: "Four times an hour: do a part of the day's cycle that deletes content to which nothing refers.",
    target: "reclaim-storage",
    schedule: "rate(15 minutes)",
  },
  {
    name: "dataset-version-made",
    description: "A dataset has a new version: fire the triggers that wait for it.",
    target: "fire-triggers",
    // Matches only the manifests of dataset versions, one for each push, among millions of objects.
    pattern: objectCreated("teams/*/datasets/*/manifest.json"),
  },
  {
    name: "inbox-file-put",
    description: "A raw file was put into a team's inbox: make it a version of its dataset.",
    target: "snapshot-dataset",
    pattern: objectCreated("teams/*/inbox/*"),
  },
  {
    name: "drift-detected",
    description: "A monitor found drift: fire the triggers that wait for it.",
    target: "fire-triggers",
    pattern: published([driftDetected]),
  },
  {
    name: "model-changed",
    description: "A version of a model got a stage or an alias: fire the triggers that wait for it.",
    target: "fire-triggers",
    pattern: published([modelChanged], { action: ["staged", "promoted", "rolled-back", "alias-set"] }),
  },
  {
    name: "triggered-run-ended",
    description: "A run that a trigger started has ended: start the next cause that waits.",
    target: "fire-triggers",
    pattern: published([runEnded], { cause: { trigger: [{ exists: true }] } }),
  },
  {
    name: "pipeline-run-ended",
    description: "A run of a pipeline has ended: fire the triggers that wait for it.",
    target: "fire-triggers",
    pattern: published([pipelineEnded]),
  },
  {
    name: "drift-alarm",
    description: "A drift alarm went off: fire the triggers that wait for its monitor.",
    target: "fire-triggers",
    pattern: ({ prefix }) => ({
      source: ["aws.cloudwatch"],
      "detail-type": ["CloudWatch Alarm State Change"],
      detail: { alarmName: [{ prefix: driftAlarmPrefix(prefix) }], state: { value: ["ALARM"] } },
    }),
  },
  {
    name: "trigger-sweep",
    description:
      "Every five minutes: causes that wait or whose event was lost, and schedules that differ from their trigger.",
    target: "fire-triggers",
    schedule: "rate(5 minutes)",
  },
  {
    name: "notable-event",
    description: "A run has ended, a version needs an approval, or a data contract blocked rows: notify its team.",
    target: "notify",
    pattern: published([runEnded, approvalNeeded, dataContractBlocked]),
  },
  {
    name: "run-ended",
    description: "A run has ended: end the sessions of its trainers.",
    target: "end-sessions",
    pattern: published([runEnded]),
  },
  {
    name: "trial-ended",
    description: "A trial of a study has ended or paused: decide how its study continues.",
    target: "drive-study",
    pattern: published([runEnded, runPaused], { trial: { study: [{ exists: true }] } }),
  },
  {
    name: "step-awaited",
    description: "A training run or a pipeline run has ended: continue the step of a pipeline that waits for it.",
    target: "pipeline-step",
    pattern: published([runEnded, pipelineEnded]),
  },
  {
    name: "pipeline-sweep",
    description: "Each minute: pipeline runs whose event was lost, or whose process died.",
    target: "pipeline-step",
    schedule: "rate(1 minute)",
  },
  {
    name: "study-changed",
    description: "A study was created, extended or stopped: start its trials.",
    target: "drive-study",
    pattern: published([studyChanged]),
  },
  {
    name: "study-sweep",
    description: "Each minute: studies whose event was lost, or whose driver died.",
    target: "drive-study",
    schedule: "rate(1 minute)",
  },
  {
    name: "monitor-due",
    description: "Inferences have filled a window of a monitor: measure it.",
    target: "monitor-drift",
    pattern: published([monitorDue]),
  },
  {
    name: "monitor-sweep",
    description: "Every five minutes: windows of monitors that have ended, and findings whose event was lost.",
    target: "monitor-drift",
    schedule: "rate(5 minutes)",
  },
  {
    name: "feature-rows",
    description: "Rows of a feature view, or a view whose rows are due: bring them into its stores.",
    target: "store-features",
    pattern: published([featureRows, featureViewDue]),
  },
  {
    name: "notification-sweep",
    description: "Every five minutes: notifications whose receiver has not accepted them yet.",
    target: "notify",
    schedule: "rate(5 minutes)",
  },
];
