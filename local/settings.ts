import { join } from "node:path";
import {
  environmentOf,
  type HookTargets,
  hookEnvironment,
  type PlatformConfig,
  trainerEnvironmentOf,
} from "../platform/config";
import { functionNameIn } from "../platform/functions";
import { runRoleNameIn, type World } from "../platform/permissions";
import { retrainingNames } from "../platform/retraining";
import { tableNameIn } from "../platform/tables";
import { resourceNames } from "../platform/trainer-job";
import { account, region } from "./account";

export interface StackSettings {
  /** Of the AWS wire protocols; 0 takes a free one. */
  readonly port: number;
  /** Of the API; 0 takes a free one. */
  readonly apiPort: number;
  /** Lets hooks go to other programs of this machine. */
  readonly allowLoopbackHooks?: boolean;
  /** Absolute. */
  readonly dataDirectory: string;
}

/** One prefix is enough: stacks beside each other have data directories of their own. */
const prefix = "ringmaster";

/** Where the platform stands, as ARNs have it. */
export function localWorld(): World {
  return { partition: "aws", region, account, prefix, bucket: `${prefix}-data` };
}

/** The platform's names on the embedded cloud. */
export function localConfig(): PlatformConfig {
  const names = resourceNames(prefix);
  const retraining = retrainingNames({ prefix, region });
  return {
    prefix,
    bucket: `${prefix}-data`,
    tables: {
      catalog: tableNameIn(prefix, "Catalog"),
      metrics: tableNameIn(prefix, "Metrics"),
      gangs: tableNameIn(prefix, "Gangs"),
    },
    stateMachineArn: `arn:aws:states:${region}:${account}:stateMachine:${names.stateMachine}`,
    runRoleArn: `arn:aws:iam::${account}:role/${runRoleNameIn({ prefix, region })}`,
    jobQueues: {
      spot: names.jobQueueSpot,
      spotGpu: names.jobQueueSpotGpu,
      onDemand: names.jobQueueOnDemand,
      onDemandGpu: names.jobQueueOnDemandGpu,
    },
    teamShares: {},
    jobLogGroup: names.jobLogGroup,
    jobDefinitions: { single: names.jobDefinition, gang: names.jobDefinitionGang },
    retraining: {
      functionArn: `arn:aws:lambda:${region}:${account}:function:${functionNameIn(prefix, "retrain")}`,
      scheduleGroup: retraining.scheduleGroup,
      scheduleRoleArn: `arn:aws:iam::${account}:role/${retraining.scheduleRole}`,
      deadLetterQueueArn: `arn:aws:sqs:${region}:${account}:${retraining.deadLetterQueue}`,
    },
  };
}

/** Points an AWS SDK or the AWS CLI at the embedded cloud. Each process gets keys of its own in addition. */
function endpointEnvironment(endpoint: string): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    // Not an EC2 instance: do not wait for its metadata service.
    AWS_EC2_METADATA_DISABLED: "true",
    // The functions run on Node 22 on AWS; what the SDK will need next year is not this process's news.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
}

/** What the trainers' job definition gives them on AWS. */
export function trainerEnvironment(endpoint: string): Readonly<Record<string, string>> {
  return { ...endpointEnvironment(endpoint), ...trainerEnvironmentOf(localConfig()) };
}

/** @param hooks where hooks of functions may go */
export function functionEnvironment(endpoint: string, hooks: HookTargets): Readonly<Record<string, string>> {
  return { ...endpointEnvironment(endpoint), ...environmentOf(localConfig()), ...hookEnvironment(hooks) };
}

/** Where a data directory keeps what. */
export const dataPaths = (dataDirectory: string) => ({
  /** Who runs here; read by `status`, `down` and every command that looks for the API. */
  stackFile: join(dataDirectory, "stack.json"),
  /** Output of a detached stack. */
  logFile: join(dataDirectory, "stack.log"),
  /** Directory of the stores' seals (`local/storage/seal.ts`). */
  seals: join(dataDirectory, "seals"),
  service: (name: string) => join(dataDirectory, name),
});
