import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { trainingJobs } from "../../adapters/batch/training-jobs";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { createDocumentClient, documents } from "../../adapters/dynamodb/client";
import { endedRuns } from "../../adapters/dynamodb/ended-runs";
import { outboxIndex } from "../../adapters/dynamodb/model-repository";
import { monitorIndex } from "../../adapters/dynamodb/monitor-repository";
import { dueDeliveries } from "../../adapters/dynamodb/notification-repository";
import { runIdentities } from "../../adapters/dynamodb/run-identities";
import { runKeys } from "../../adapters/dynamodb/run-keys";
import { triggerIndex } from "../../adapters/dynamodb/trigger-repository";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { webhooks } from "../../adapters/http/webhooks";
import { workerLogs } from "../../adapters/logs/worker-logs";
import { type Platform, platformPorts } from "../../adapters/platform";
import { deploy, type Scope, type TeamOf } from "../../adapters/port";
import { readScope } from "../../adapters/process-scope";
import { s3Client } from "../../adapters/s3/object-store";
import { triggerSchedules } from "../../adapters/scheduler/trigger-schedules";
import { teamTopic } from "../../adapters/sns/team-topic";
import { executions, taskTokens } from "../../adapters/stepfunctions/executions";
import { openRuns } from "../../adapters/team-runs";
import { defaultTeam } from "../../core/access/principals";
import type { DataContractBlocked, DataContractEvents } from "../../core/datasets/contract/blocked";
import type { FeatureRows, ViewDue, ViewEvents } from "../../core/feature-store/ports";
import { createLogger } from "../../core/logging";
import type { Measures, Meter } from "../../core/metering/metrics";
import type { DriftEvent, MonitorDue, MonitorEvents } from "../../core/monitors/ports";
import type { TeamTopic, Webhooks } from "../../core/notifications/ports";
import type { AttemptResult, Message } from "../../core/notifications/shapes";
import { contentDigestOf } from "../../core/object-keys";
import type { PipelineEvents, StepExecutions } from "../../core/pipelines/ports";
import { pathOf } from "../../core/pipelines/records";
import type { Clock } from "../../core/ports";
import type { ApprovalNeeded } from "../../core/registry/model";
import type { ModelEvent, ModelEvents } from "../../core/registry/outbox";
import type { JobOutcome } from "../../core/runs/attempts";
import {
  type ApprovalExecution,
  type ApprovalExecutions,
  type Executions,
  type JobDefinitions,
  type JobRequest,
  segmentNameOf,
  type TaskTokens,
  type TrainingJobs,
  type WorkerLogs,
} from "../../core/runs/ports";
import type { InstanceUse } from "../../core/runs/run-repository";
import type { Run } from "../../core/runs/shapes";
import type { WorkerSpan } from "../../core/runs/usage";
import type { RunEnded, RunEvents, RunPaused } from "../../core/training/run-ended";
import type { TriggerSchedules } from "../../core/triggers/ports";
import type { Trigger } from "../../core/triggers/trigger";
import type { StudyChanged, StudyEvents } from "../../core/tuning/ports";
import { createDynamoDb } from "../../local/dynamodb";
import { createFront } from "../../local/front";
import { listen, portOf } from "../../local/listen";
import { createS3 } from "../../local/s3";
import { environmentOf } from "../../platform/config";
import { tables } from "../../platform/tables";
import { localConfig } from "../../stack/settings";
import { shapeOf } from "../local/dynamodb/harness";
import { testIam } from "./iam";
import { callInProcess } from "./in-process";

export interface Embedded {
  readonly dynamodb: DynamoDBDocumentClient;
  readonly s3: S3Client;
  readonly directory: string;
  stop(): Promise<void>;
}

export function useEmbedded(): Embedded {
  const embedded: Partial<Embedded> = {};
  beforeAll(async () => void Object.assign(embedded, await startEmbedded()));
  afterAll(() => embedded.stop?.());
  return embedded as Embedded;
}

export async function startEmbedded(): Promise<Embedded> {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-test-"));
  const tableService = await createDynamoDb({ dataDirectory: join(directory, "dynamodb") });
  const objectService = await createS3({
    dataDirectory: join(directory, "s3"),
    events: { put: () => undefined },
    contentDigest: contentDigestOf,
  });
  const services = [tableService, objectService];
  const front = createFront(services, testIam);
  await listen(front, 0, "");
  const connection = {
    endpoint: `http://127.0.0.1:${portOf(front)}`,
    region: "us-east-1",
    credentials: testIam.owner,
  };
  const dynamodb = new DynamoDBClient(connection);
  const s3 = new S3Client(connection);
  callInProcess(dynamodb, tableService);
  callInProcess(s3, objectService);
  const { bucket, prefix } = localConfig();
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  for (const table of tables)
    await dynamodb.send(new CreateTableCommand({ TableName: `${prefix}-${table.name}`, ...shapeOf(table) }));
  return {
    dynamodb: createDocumentClient(dynamodb),
    s3,
    directory,
    async stop() {
      dynamodb.destroy();
      s3.destroy();
      front.closeAllConnections();
      await new Promise((closed) => front.close(closed));
      for (const service of services) await service.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface Calls {
  readonly submitted: JobRequest[];
  readonly terminated: string[];
  readonly started: string[];
  /** Executions that wait for approvals. */
  readonly approvals: ApprovalExecution[];
  readonly stopped: string[];
  readonly succeeded: { readonly token: string; readonly output: unknown }[];
  readonly failed: { readonly token: string; readonly error: string; readonly cause: string }[];
  readonly heartbeats: string[];
  /** By `<team>.<trigger>`. */
  readonly schedules: Map<string, Trigger>;
  /** Model events that were accepted, in order. */
  readonly events: ModelEvent[];
  /** Ends of runs, requests for approvals and blocked data that were accepted, in order. */
  readonly notable: (RunEnded | ApprovalNeeded | DataContractBlocked)[];
  readonly paused: RunPaused[];
  readonly studies: StudyChanged[];
  readonly drift: DriftEvent[];
  readonly due: MonitorDue[];
  readonly featureRows: FeatureRows[];
  readonly viewsDue: ViewDue[];
  /** Messages of notifications; `to` is a URL or a topic's ARN. */
  readonly sent: { readonly to: string; readonly message: Message }[];
  /** Responses of receivers and SNS; a test changes them. */
  accepts: AttemptResult;
  readonly measured: { readonly measures: Measures; readonly team?: string }[];
  /** When any job's workers ran; a test changes it. */
  spans: readonly WorkerSpan[];
  job: JobOutcome;
  definitions: JobDefinitions;
}

const testPorts = {
  shared: {
    ...platformPorts.shared,
    runKeys: runKeys(),
    endedRuns: endedRuns(),
    triggerIndex: triggerIndex(),
    outboxIndex: outboxIndex(),
    monitorIndex: monitorIndex(),
    dueDeliveries: dueDeliveries(),
    openRuns: openRuns(),
    identities: runIdentities("read"),
  },
  team: platformPorts.team,
};

export type TestPlatform = Platform &
  TeamOf<typeof testPorts.shared> & {
    forTeam(team: string): TestPlatform;
    forRun(runId: string): Promise<TestPlatform>;
    teamOf(runId: string): Promise<string | undefined>;
    listOpenRuns(): Promise<readonly Run[]>;
    findOnInstance(instanceId: string): Promise<readonly InstanceUse[]>;
  };

/** The default team's platform on real stores (`forTeam` gives others'), with a clock that does not advance by default, and with recorded calls to Batch and Step Functions. */
export function createTestPlatform(
  embedded: Embedded,
  clock: Clock = stillClock(),
  calls: Calls = noCalls(),
): { readonly platform: TestPlatform; readonly calls: Calls } {
  const config = localConfig();
  const scope: Scope = {
    ...readScope({ ...environmentOf(config) }),
    clock,
    logger: createLogger(() => undefined, clock),
  };
  const measured: Meter = {
    emit: (measures, team) => void calls.measured.push({ measures, ...(team ? { team } : {}) }),
  };
  const events: ModelEvents &
    PipelineEvents &
    RunEvents &
    StudyEvents &
    DataContractEvents &
    MonitorEvents &
    ViewEvents = {
    publish: async (event) => void calls.events.push(event),
    publishApprovalNeeded: async (event) => void calls.notable.push(event),
    publishRunEnded: async (event) => void calls.notable.push(event),
    publishRunPaused: async (event) => void calls.paused.push(event),
    publishPipelineEnded: async () => undefined,
    publishStudyChanged: async (event) => void calls.studies.push(event),
    publishDataContractBlocked: async (event) => void calls.notable.push(event),
    publishDrift: async (event) => void calls.drift.push(event),
    publishMonitorDue: async (event) => void calls.due.push(event),
    publishFeatureRows: async (event) => void calls.featureRows.push(event),
    publishViewDue: async (event) => void calls.viewsDue.push(event),
  };
  const posts: Webhooks = {
    async post(to, _key, message) {
      calls.sent.push({ to, message });
      return calls.accepts;
    },
    problemOf: async (url) => (url.startsWith("https://") ? undefined : "it must be an https URL"),
  };
  const topicOf: (team: string) => TeamTopic = (team) => ({
    arn: `arn:aws:sns:us-east-1:000000000000:ringmaster-team-${team}`,
    async publish(message) {
      calls.sent.push({ to: this.arn, message });
      return calls.accepts;
    },
  });
  const logs: WorkerLogs = { read: async () => ({ lines: [] }) };
  const startedRuns: Executions & ApprovalExecutions & StepExecutions = {
    start: async (run) => void calls.started.push(segmentNameOf(run)),
    startApproval: async (approval) => void calls.approvals.push(approval),
    stop: async (run) => void calls.stopped.push(segmentNameOf(run)),
    status: async () => "running",
    startStep: async (_team, step) => void calls.started.push(`${step.pipelineRunId} ${pathOf(step)}`),
    stopStep: async (_team, step) => void calls.stopped.push(`${step.pipelineRunId} ${pathOf(step)}`),
    stepStatus: async () => "running",
  };
  const answers: TaskTokens = {
    succeed: async (token, output) => void calls.succeeded.push({ token, output }),
    fail: async (token, error, cause) => void calls.failed.push({ token, error, cause }),
    heartbeat: async (token) => void calls.heartbeats.push(token),
  };
  const submitted: TrainingJobs = {
    find: async ({ runId, attempt }) => {
      const known = calls.submitted.some((one) => one.runId === runId && one.attempt === attempt);
      return known ? `job-${runId}-${attempt}` : undefined;
    },
    spans: async () => calls.spans,
    submit: async (request) => {
      calls.submitted.push(request);
      return { jobId: `job-${request.runId}-${request.attempt}` };
    },
    definitions: async () => calls.definitions,
    describe: async () => calls.job,
    terminate: async (jobId) => void calls.terminated.push(jobId),
  };
  const schedules: TriggerSchedules = {
    put: async (trigger) => void calls.schedules.set(`${trigger.team}.${trigger.name}`, trigger),
    delete: async (team, trigger) => void calls.schedules.delete(`${team}.${trigger}`),
    list: async () =>
      [...calls.schedules.keys()].map((name) => ({ team: name.split(".")[0]!, trigger: name.split(".")[1]! })),
  };
  const deployment = deploy(scope, testPorts, [
    [documents(), () => embedded.dynamodb],
    [s3Client(), () => embedded.s3],
    [meter(), () => measured],
    [platformEvents(), () => events],
    [webhooks(), () => posts],
    [teamTopic(), ({ team }) => topicOf(team)],
    [workerLogs(), () => logs],
    [executions(), () => startedRuns],
    [taskTokens(), () => answers],
    [trainingJobs(), () => submitted],
    [triggerSchedules(), () => schedules],
  ]);
  const { identities, openRuns } = deployment;
  const forTeam = (team: string): TestPlatform => ({
    ...deployment.forTeam(team),
    ...openRuns,
    forTeam,
    forRun: async (runId) => forTeam(await identities.findTeam(runId)),
    teamOf: identities.teamOf,
    listOpenRuns: openRuns.listOpen,
  });
  return { platform: forTeam(defaultTeam), calls };
}

function stillClock(): Clock {
  let time = Date.parse("2026-01-01T00:00:00.000Z");
  return {
    now: () => {
      time += 1;
      return time;
    },
  };
}

export const noCalls = (): Calls => ({
  submitted: [],
  terminated: [],
  started: [],
  approvals: [],
  stopped: [],
  succeeded: [],
  failed: [],
  heartbeats: [],
  events: [],
  notable: [],
  paused: [],
  studies: [],
  drift: [],
  due: [],
  featureRows: [],
  viewsDue: [],
  sent: [],
  accepts: { accepted: true, answer: "status 200" },
  measured: [],
  spans: [],
  schedules: new Map(),
  job: { status: "running", hostLoss: false },
  definitions: { single: "ringmaster-trainer:1", gang: "ringmaster-trainer-gang:1" },
});
