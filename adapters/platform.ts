import { trainingJobs } from "./batch/training-jobs";
import { meter } from "./cloudwatch/emf-meter";
import { dataContracts } from "./dynamodb/data-contract-repository";
import { datasets } from "./dynamodb/dataset-repository";
import { experiments } from "./dynamodb/experiment-repository";
import { featureBatches, featureViews, onlineFeatures } from "./dynamodb/feature-store";
import { inbox } from "./dynamodb/inbox-repository";
import { inferenceLog } from "./dynamodb/inference-log";
import { lineage } from "./dynamodb/lineage-repository";
import { loggedModels } from "./dynamodb/logged-model-repository";
import { metrics } from "./dynamodb/metric-store";
import { monitors } from "./dynamodb/monitor-repository";
import { notifications } from "./dynamodb/notification-repository";
import { outcomes } from "./dynamodb/outcome-repository";
import { pipelines } from "./dynamodb/pipeline-repository";
import { stepCache } from "./dynamodb/step-cache";
import { studies } from "./dynamodb/study-repository";
import { triggers } from "./dynamodb/trigger-repository";
import { platformEvents } from "./eventbridge/platform-events";
import { checkHooks } from "./http/check-hooks";
import { webhooks } from "./http/webhooks";
import { workerLogs } from "./logs/worker-logs";
import { type Deployment as DeploymentOf, deploy, type Replacements, type Scope, type TeamOf } from "./port";
import { readScope } from "./process-scope";
import { contentUrls } from "./s3/content-urls";
import { inboxFiles } from "./s3/inbox-files";
import { incomingContent } from "./s3/incoming-content";
import { teamObjects } from "./s3/object-store";
import { triggerSchedules } from "./scheduler/trigger-schedules";
import { teamTopic } from "./sns/team-topic";
import { executions, taskTokens } from "./stepfunctions/executions";
import { outbox, production, registry, routing } from "./team-registry";
import { artifacts, changes, liveRuns, records, runSearch, runs } from "./team-runs";

export const platformPorts = {
  shared: {
    meter: meter(),
    webhooks: webhooks(),
    hooks: checkHooks(),
    schedules: triggerSchedules("write"),
    executions: executions("start", "startApproval", "stop"),
    tokens: taskTokens("answer"),
    jobs: trainingJobs("look", "terminate"),
    logs: workerLogs("read"),
    runEvents: platformEvents("publish"),
    liveRuns: liveRuns(),
  },
  team: {
    objects: teamObjects("read", "write", "upload"),
    contentUrls: contentUrls("download", "upload"),
    incoming: incomingContent("write"),
    runs: runs("details", "steps", "create", "end", "list"),
    cache: stepCache("read", "write"),
    datasets: datasets("read", "resolve", "list", "register", "annotate"),
    dataContracts: dataContracts("read", "write"),
    inbox: inbox("read", "list", "write"),
    inboxFiles: inboxFiles("read", "write"),
    metrics: metrics("read", "write"),
    experiments: experiments("ensure", "list", "change"),
    records: records("read", "list", "write"),
    changes: changes("read"),
    runSearch: runSearch("use"),
    loggedModels: loggedModels("read", "list", "write"),
    artifacts: artifacts("read", "write", "freeze"),
    lineage: lineage("read", "write"),
    registry: registry("read", "list", "change"),
    outbox: outbox("publish"),
    production: production("read"),
    routing: routing("read"),
    outcomes: outcomes("use"),
    inferences: inferenceLog("read", "write"),
    monitors: monitors("read", "list", "write", "delete"),
    views: featureViews("read", "list", "register"),
    batches: featureBatches("read", "list", "write"),
    online: onlineFeatures("read"),
    notifications: notifications("read", "list", "deliver", "configure"),
    topic: teamTopic("publish"),
    triggers: triggers("read", "write"),
    pipelines: pipelines("read", "list", "write"),
    studies: studies("read", "list", "write"),
  },
} as const;

export type Deployment = DeploymentOf<typeof platformPorts.shared, typeof platformPorts.team>;

/** The ports of the API for one team. They read and write no data of another team. */
export type Platform = TeamOf<typeof platformPorts.shared & typeof platformPorts.team>;

export function createPlatform(scope: Scope = readScope(process.env), replacements: Replacements = []): Deployment {
  return deploy(scope, platformPorts, replacements);
}
