import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BatchClient } from "@aws-sdk/client-batch";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SFNClient } from "@aws-sdk/client-sfn";
import { SNSClient } from "@aws-sdk/client-sns";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { checkTeamName } from "../core/access/teams";
import { createPause, type Pause } from "../core/backoff";
import { BoundedMap } from "../core/bounded-map";
import type { InboxFiles, InboxRepository } from "../core/datasets/inbox/report";
import type { DatasetRepository } from "../core/datasets/repository";
import { recordLineage } from "../core/lineage/lineage-recorder";
import type { LineageIndex } from "../core/lineage/port";
import { createLogger, type Logger } from "../core/logging";
import type { Meter } from "../core/metering/metrics";
import type { DueDeliveries, NotificationRepository, TeamTopic, Webhooks } from "../core/notifications/ports";
import { teamPrefix } from "../core/object-keys";
import type { Clock, ObjectStore } from "../core/ports";
import type { CheckHooks } from "../core/registry/gates/hook";
import type { ModelEvents, OutboxIndex } from "../core/registry/outbox";
import type { Registry } from "../core/registry/registry";
import type { OutcomeRepository } from "../core/registry/serving/outcomes";
import type { RetrainingIndex, RetrainingRepository, RetrainingSchedules } from "../core/retraining/ports";
import { RunNotFoundError } from "../core/runs/errors";
import type { Executions, TaskTokens, TrainingJobs } from "../core/runs/ports";
import type { Run } from "../core/runs/run";
import type { RunKeys } from "../core/runs/run-key";
import type { InstanceUse } from "../core/runs/run-repository";
import type { StepDependencies } from "../core/runs/step";
import { teamRuns } from "../core/runs/team-runs";
import type { Artifacts } from "../core/tracking/artifacts";
import type { Experiments } from "../core/tracking/experiments";
import { defaultExperimentId } from "../core/tracking/experiments";
import type { LoggedModels } from "../core/tracking/logged-model";
import type { MetricStore } from "../core/tracking/metric-store";
import { createLiveRuns, type LiveRuns, noteLiveRuns } from "../core/tracking/records/live-runs";
import { firstRecordOf, trackedRuns } from "../core/tracking/records/tracked-runs";
import { canBeRunId, type RunIdentity } from "../core/tracking/run-record";
import type { RunChanges, RunRecords } from "../core/tracking/run-records";
import type { RunSearch } from "../core/tracking/search/query";
import { createRunSearches } from "../core/tracking/search/run-search";
import type { EndedRuns } from "../core/training/end-sessions";
import type { RunEvents } from "../core/training/run-ended";
import type { WorkerLogs } from "../core/training/worker-logs";
import { type PlatformConfig, publicTargets, readConfig, readHookTargets, worldOf } from "../platform/config";
import { createTrainingJobs } from "./batch/training-jobs";
import { createEmfMeter } from "./cloudwatch/emf-meter";
import { createArtifactRepository } from "./dynamodb/artifact-repository";
import { createDocumentClient } from "./dynamodb/client";
import { pauseBeforeRound } from "./dynamodb/contention";
import { createDatasetRepository } from "./dynamodb/dataset-repository";
import { createEndedRuns } from "./dynamodb/ended-runs";
import { createExperimentRepositories } from "./dynamodb/experiment-repository";
import { createInboxRepository } from "./dynamodb/inbox-repository";
import { createLineageIndex } from "./dynamodb/lineage-repository";
import { createLoggedModelRepository } from "./dynamodb/logged-model-repository";
import { MetricLogs } from "./dynamodb/metric-logs";
import { MetricRows } from "./dynamodb/metric-rows";
import { createMetricStore } from "./dynamodb/metric-store";
import { createModelRepository } from "./dynamodb/model-repository";
import { createDueDeliveries, createNotificationRepository } from "./dynamodb/notification-repository";
import { createOutcomeRepository } from "./dynamodb/outcome-repository";
import { createRunRecords } from "./dynamodb/record-repository";
import { createOutboxIndex } from "./dynamodb/registry-outbox";
import { createRetrainingIndex, createRetrainingRepository } from "./dynamodb/retraining-repository";
import { createRunChanges } from "./dynamodb/run-changes";
import { RunCreations } from "./dynamodb/run-creations";
import { createRunKeys } from "./dynamodb/run-keys";
import { createRunRepository } from "./dynamodb/run-repository";
import { createStepCache } from "./dynamodb/step-cache";
import { createPlatformEvents } from "./eventbridge/platform-events";
import { createCheckHooks } from "./http/check-hooks";
import { createWebhooks } from "./http/webhooks";
import { createWorkerLogs } from "./logs/worker-logs";
import { type ContentUrls, createContentUrls } from "./s3/content-urls";
import { createInboxFiles } from "./s3/inbox-files";
import { createIncomingContent, type IncomingContent } from "./s3/incoming-content";
import { createObjectStore } from "./s3/object-store";
import { createPointerStore } from "./s3/pointer-store";
import { createRetrainingSchedules } from "./scheduler/retraining-schedules";
import { createTeamTopic } from "./sns/team-topic";
import { createExecutions } from "./stepfunctions/executions";
import { createTaskTokens } from "./stepfunctions/task-tokens";
import { createTeamRegistry, type TeamRegistry } from "./team-registry";

/** The ports without a team, and the access to each team's platform. */
export interface Deployment {
  readonly config: PlatformConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Measures the operation of the platform itself. */
  readonly meter: Meter;
  readonly runKeys: RunKeys;
  readonly endedRuns: EndedRuns;
  /** Lists the open runs of every team, for the monitors. */
  listOpenRuns(): Promise<readonly Run[]>;
  /** Finds every team's processes on an EC2 instance. */
  findOnInstance(instanceId: string): Promise<readonly InstanceUse[]>;
  /** Returns the team of a run, or `undefined` if the run does not exist. */
  teamOf(runId: string): Promise<string | undefined>;
  /** Returns all of core's ports for a team. @throws InvalidInputError if the name is invalid */
  forTeam(team: string): Platform;
  /** The rules that the retraining sweep visits. */
  readonly retrainingIndex: RetrainingIndex;
  readonly schedules: RetrainingSchedules;
  /** The events of model changes that are not published yet. */
  readonly outboxIndex: OutboxIndex;
  /** The due notifications. */
  readonly dueDeliveries: DueDeliveries;
  /** Returns the platform of the run's team. @throws RunNotFoundError */
  forRun(runId: string): Promise<Platform>;
}

/** All of core's ports on AWS for one team. They read and write no data of another team. */
export interface Platform extends Deployment, StepDependencies {
  readonly team: string;
  readonly objects: ObjectStore;
  readonly contentUrls: ContentUrls;
  readonly incoming: IncomingContent;
  readonly logs: WorkerLogs;
  readonly datasets: DatasetRepository;
  readonly inbox: InboxRepository;
  readonly inboxFiles: InboxFiles;
  readonly metrics: MetricStore;
  readonly experiments: Experiments;
  readonly records: RunRecords;
  readonly changes: RunChanges;
  readonly liveRuns: LiveRuns;
  readonly runSearch: RunSearch;
  readonly loggedModels: LoggedModels;
  readonly artifacts: Artifacts;
  readonly lineage: LineageIndex;
  readonly registry: Registry;
  /** Publishes the consequences of registry changes. */
  readonly outbox: TeamRegistry["outbox"];
  readonly runEvents: RunEvents;
  /** The production models that serving loads, from the registry and from the bucket. */
  readonly production: TeamRegistry["production"];
  readonly routing: TeamRegistry["routing"];
  readonly outcomes: OutcomeRepository;
  /** The checks of versions over HTTP. */
  readonly hooks: CheckHooks;
  readonly webhooks: Webhooks;
  readonly notifications: NotificationRepository;
  readonly topic: TeamTopic;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /** Waits between the rounds of an optimistic write. */
  readonly pause: Pause;
  /** Returns new random bytes for keys. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly retraining: RetrainingRepository;
  readonly executions: Executions;
  readonly tokens: TaskTokens;
  readonly jobs: TrainingJobs;
}

/** The clients behind the ports. The SDK determines the endpoints (`AWS_ENDPOINT_URL`). */
export interface Backing
  extends Pick<
    Platform,
    "config" | "clock" | "logger" | "meter" | "logs" | "executions" | "tokens" | "jobs" | "schedules" | "webhooks"
  > {
  readonly topicOf: (team: string) => TeamTopic;
  readonly dynamodb: DynamoDBDocumentClient;
  readonly s3: S3Client;
  readonly events: ModelEvents & RunEvents;
  /** The checks over HTTP. By default they call only the public internet. */
  readonly hooks?: CheckHooks;
}

/** Reads and checks the environment, and creates every port for one process. Clients connect on first use. */
export function createPlatform(environment: Readonly<Record<string, string | undefined>> = process.env): Deployment {
  const config = readConfig(environment);
  const clock: Clock = { now: () => Date.now() };
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const sfn = new SFNClient({});
  const dynamodb = createDocumentClient();
  const sns = new SNSClient({});
  const targets = readHookTargets(environment);
  return createDeployment({
    config,
    clock,
    logger: createLogger(write, clock),
    dynamodb,
    s3: new S3Client({}),
    logs: createWorkerLogs(new CloudWatchLogsClient({}), config.jobLogGroup),
    executions: createExecutions(sfn, config.stateMachineArn),
    tokens: createTaskTokens(sfn),
    jobs: createTrainingJobs(
      new BatchClient({}),
      new BatchClient({ maxAttempts: 1 }),
      config,
      createRunKeys(dynamodb, config.tables.catalog),
    ),
    meter: createEmfMeter(write, clock, config.prefix),
    schedules: createRetrainingSchedules(new SchedulerClient({}), config.retraining),
    events: createPlatformEvents(new EventBridgeClient({}), config.prefix),
    hooks: createCheckHooks({ clock, pause: pauseBeforeRound, targets }),
    webhooks: createWebhooks({
      clock,
      pause: createPause({ firstMs: webhookPauseMs, maxMs: 2_000 }, sleep, Math.random),
      targets,
    }),
    topicOf: (team) => createTeamTopic(sns, worldOf(config), team),
  });
}

/** The pause before a webhook's second attempt. The third waits up to twice as long. */
const webhookPauseMs = 500;

/** The number of cached platforms, more than the teams that a process serves. A recreated platform is equal. */
const maxPlatforms = 1_000;

/** Creates the deployment. A team's platform consists of closures over shared ports and is created on first use. */
export function createDeployment({ dynamodb, s3, events, topicOf, ...shared }: Backing): Deployment {
  const { bucket, tables } = shared.config;
  const rows = createRunRepository(dynamodb, tables.catalog);
  const changes = createRunChanges(dynamodb, tables.catalog, shared.clock);
  const experimentsOf = createExperimentRepositories(dynamodb, tables.catalog, shared.clock);
  const records = createRunRecords(dynamodb, tables.catalog, {
    changes,
    creations: new RunCreations(dynamodb),
    metricsTable: tables.metrics,
    async older(runId) {
      const run = await rows.find(runId);
      return run && { ...(await firstRecordOf({ experimentsOf }, run)), createdAt: run.createdAt };
    },
  });
  const artifactsOf = (team: string): Artifacts =>
    createArtifactRepository(dynamodb, tables.catalog, team, records.of(team));
  const liveRuns = createLiveRuns(shared.clock);
  const notedInputs = new BoundedMap<string, true>(10_000);
  const searches = createRunSearches();
  const allRuns = trackedRuns(rows, { records, changes, experimentsOf, artifactsOf });
  const runs = teamRuns(allRuns);
  // Runs that are older than records are found by their own rows.
  const teamOf = async (runId: string): Promise<string | undefined> =>
    (await records.identify(runId))?.team ?? runs.teamOf(runId);
  // A run that trains during an upgrade loses no point. No search shows it before it has a record, so its marks affect
  // nothing.
  const identify = async (runId: string): Promise<RunIdentity | undefined> => {
    const known = await records.identify(runId);
    if (known || !canBeRunId(runId)) return known;
    const team = await runs.teamOf(runId);
    return team === undefined ? undefined : { runId, team, experimentId: defaultExperimentId, source: "training" };
  };
  const metrics = new MetricLogs(new MetricRows(dynamodb, tables.metrics));
  const hooks =
    shared.hooks ?? createCheckHooks({ clock: shared.clock, pause: pauseBeforeRound, targets: publicTargets });

  /** The platforms contain nothing of a request. */
  const platforms = new BoundedMap<string, Platform>(maxPlatforms);

  const deployment: Deployment = {
    config: shared.config,
    clock: shared.clock,
    logger: shared.logger,
    meter: shared.meter,
    runKeys: createRunKeys(dynamodb, tables.catalog),
    endedRuns: createEndedRuns(dynamodb, tables.catalog),
    retrainingIndex: createRetrainingIndex(dynamodb, tables.catalog),
    schedules: shared.schedules,
    outboxIndex: createOutboxIndex(dynamodb, tables.catalog),
    dueDeliveries: createDueDeliveries(dynamodb, tables.catalog),
    listOpenRuns: () => allRuns.listOpen(),
    findOnInstance: (instanceId) => allRuns.findOnInstance(instanceId),
    teamOf,
    async forRun(runId) {
      const team = await teamOf(runId);
      if (team === undefined) throw new RunNotFoundError(runId);
      return deployment.forTeam(team);
    },
    forTeam(name) {
      const team = checkTeamName(name);
      const lineage = createLineageIndex(dynamodb, tables.catalog, team, notedInputs);
      const known = platforms.get(team);
      if (known) return known;
      const objects = createObjectStore(s3, bucket, teamPrefix(team));
      const tracking = {
        metrics: createMetricStore(metrics, team, { identify, changes }),
        experiments: experimentsOf(team),
        records: recordLineage(noteLiveRuns(records.of(team), liveRuns), lineage),
        changes: changes.of(team),
      };
      const platform: Platform = {
        ...deployment,
        ...shared,
        team,
        objects,
        incoming: createIncomingContent(s3, bucket, team, objects),
        contentUrls: createContentUrls(s3, bucket, team),
        runs: runs.of(team),
        cache: createStepCache(dynamodb, tables.catalog, team),
        datasets: createDatasetRepository(dynamodb, tables.catalog, team),
        inbox: createInboxRepository(dynamodb, tables.catalog, team),
        inboxFiles: createInboxFiles(s3, bucket, teamPrefix(team)),
        ...tracking,
        runSearch: searches.of(team, { ...tracking, clock: shared.clock }),
        liveRuns,
        loggedModels: createLoggedModelRepository(dynamodb, tables.catalog, team),
        artifacts: artifactsOf(team),
        lineage,
        ...createTeamRegistry({
          team,
          repository: createModelRepository(dynamodb, tables.catalog, team),
          objects,
          pointers: createPointerStore(s3, bucket, teamPrefix(team)),
          events,
          uriOf: (key) => `s3://${bucket}/${teamPrefix(team)}${key}`,
          logger: shared.logger,
        }),
        outcomes: createOutcomeRepository(dynamodb, tables.catalog, team),
        hooks,
        notifications: createNotificationRepository(dynamodb, tables.catalog, team),
        topic: topicOf(team),
        random: Math.random,
        pause: pauseBeforeRound,
        randomBytes,
        runEvents: events,
        retraining: createRetrainingRepository(dynamodb, tables.catalog, team),
      };
      platforms.set(team, platform);
      return platform;
    },
  };
  return deployment;
}
