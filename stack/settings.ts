import { join } from "node:path";
import { account, region } from "../local";
import {
  defaultEvaluationOperations,
  environmentOf,
  type HookTargets,
  hookEnvironment,
  type PlatformConfig,
  trainerEnvironmentOf,
} from "../platform/config";
import { functionNameIn } from "../platform/functions";
import { runRoleNameIn, type World } from "../platform/permissions";
import { tableNameIn } from "../platform/tables";
import { jobQueuesOf, resourceNames } from "../platform/trainer-job";
import { triggerNames } from "../platform/triggers";

export interface StackSettings {
  /** The port of the AWS wire protocols. 0 selects a free port. */
  readonly port: number;
  /** The port of the API. 0 selects a free port. */
  readonly apiPort: number;
  readonly allowLoopbackHooks?: boolean;
  readonly workers: number;
  /** The absolute path of the data directory. */
  readonly dataDirectory: string;
}

/** The prefix of the platform's names. All stacks share it, because each has its own data directory. */
const prefix = "ringmaster";

export function localWorld(): World {
  return { partition: "aws", region, account, prefix, bucket: `${prefix}-data` };
}

export function localConfig(): PlatformConfig {
  const names = resourceNames(prefix);
  const triggers = triggerNames({ prefix, region });
  return {
    prefix,
    bucket: `${prefix}-data`,
    tables: {
      catalog: tableNameIn(prefix, "Catalog"),
      metrics: tableNameIn(prefix, "Metrics"),
      gangs: tableNameIn(prefix, "Gangs"),
      features: tableNameIn(prefix, "Features"),
    },
    stateMachineArn: `arn:aws:states:${region}:${account}:stateMachine:${names.stateMachine}`,
    runRoleArn: `arn:aws:iam::${account}:role/${runRoleNameIn({ prefix, region })}`,
    jobQueues: jobQueuesOf(prefix),
    gpuClasses: [],
    teamShares: {},
    jobLogGroup: names.jobLogGroup,
    evaluationOperations: Number(process.env["RINGMASTER_EVALUATION_OPERATIONS"] ?? defaultEvaluationOperations),
    jobDefinitions: { single: names.jobDefinition, gang: names.jobDefinitionGang },
    triggers: {
      functionArn: `arn:aws:lambda:${region}:${account}:function:${functionNameIn(prefix, "fire-triggers")}`,
      scheduleGroup: triggers.scheduleGroup,
      scheduleRoleArn: `arn:aws:iam::${account}:role/${triggers.scheduleRole}`,
      deadLetterQueueArn: `arn:aws:sqs:${region}:${account}:${triggers.deadLetterQueue}`,
    },
  };
}

/**
 * Returns the variables that point an AWS SDK or the AWS CLI at the embedded cloud. Each process also gets its own
 * keys.
 */
function endpointEnvironment(endpoint: string): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    // This is not an EC2 instance, so the SDK must not wait for its metadata service.
    AWS_EC2_METADATA_DISABLED: "true",
    // The functions run on Node 22 on AWS, so the SDK's warning about future Node versions does not concern this
    // process.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
}

/** Returns the variables that the trainer's job definition sets on AWS. */
export function trainerEnvironment(endpoint: string): Readonly<Record<string, string>> {
  return { ...endpointEnvironment(endpoint), ...trainerEnvironmentOf(localConfig()) };
}

/**
 * Returns the variables of the functions.
 * @param hooks the targets that the functions' hooks may call
 */
export function functionEnvironment(endpoint: string, hooks: HookTargets): Readonly<Record<string, string>> {
  return { ...endpointEnvironment(endpoint), ...environmentOf(localConfig()), ...hookEnvironment(hooks) };
}

export const dataPaths = (dataDirectory: string) => ({
  /** The file that describes the running stack. `status`, `down` and every command that looks for the API read it. */
  stackFile: join(dataDirectory, "stack.json"),
  /** The output of a detached stack. */
  logFile: join(dataDirectory, "stack.log"),
  service: (name: string) => join(dataDirectory, name),
});
