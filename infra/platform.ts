import path from "node:path";
import { type App, ArnFormat, type Stack, Tags } from "aws-cdk-lib";
import { environmentOf } from "../core/config";
import { resourceNames } from "../core/platform/trainer-job";
import type { GrantTargets } from "./grants";
import { readSettings } from "./settings";
import { ApiStack } from "./stacks/api-stack";
import { ComputeStack } from "./stacks/compute-stack";
import { DataStack } from "./stacks/data-stack";
import { TriggersStack } from "./stacks/triggers-stack";
import { WorkflowStack } from "./stacks/workflow-stack";
import { trainerImage } from "./trainer-image";

export interface PlatformSources {
  /** The repository's root. */
  readonly repository: string;
  /** Directory of the built bundles (`scripts/build.js`). */
  readonly bundles: string;
}

export interface PlatformStacks {
  readonly data: DataStack;
  readonly compute: ComputeStack;
  readonly workflow: WorkflowStack;
  readonly api: ApiStack;
  readonly triggers: TriggersStack;
}

/**
 * The whole platform, a stack a lifecycle: data outlive everything, compute changes with the fleet, the workflow with each release. Names come from
 * `core/platform`, the environment of functions and trainers from `environmentOf`: the same that the embedded cloud uses.
 */
export function definePlatform(app: App, { repository, bundles }: PlatformSources): PlatformStacks {
  const settings = readSettings(app.node);
  const { prefix } = settings;
  const account = process.env["CDK_DEFAULT_ACCOUNT"];
  const region = process.env["CDK_DEFAULT_REGION"];
  const props = account && region ? { env: { account, region } } : {};

  const data = new DataStack(app, `${prefix}-data`, { ...props, prefix });
  const targets: GrantTargets = { prefix, tables: data.tables, bucket: data.bucket };
  const environment = platformEnvironment(data, targets);
  const compute = new ComputeStack(app, `${prefix}-compute`, {
    ...props,
    settings,
    targets,
    environment,
    trainerImage: (scope, puller) => trainerImage(scope, puller, settings, repository),
  });
  const workflow = new WorkflowStack(app, `${prefix}-workflow`, {
    ...props,
    bundles,
    nodeModules: path.join(repository, "node_modules"),
    targets,
    environment,
  });
  const api = new ApiStack(app, `${prefix}-api`, { ...props, prefix, handler: workflow.functions.get("api")! });
  const triggers = new TriggersStack(app, `${prefix}-triggers`, { ...props, prefix, functions: workflow.functions });
  Tags.of(app).add("ringmaster", prefix);
  return { data, compute, workflow, api, triggers };
}

function platformEnvironment(stack: Stack, { prefix, tables, bucket }: GrantTargets): Readonly<Record<string, string>> {
  const names = resourceNames(prefix);
  return environmentOf({
    prefix,
    bucket: bucket.bucketName,
    tables: {
      catalog: tables.Catalog.tableName,
      metrics: tables.Metrics.tableName,
      gangs: tables.Gangs.tableName,
    },
    // By name rather than reference: the state machine needs the functions, and the functions need to know it.
    stateMachineArn: stack.formatArn({
      service: "states",
      resource: "stateMachine",
      resourceName: names.stateMachine,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
    jobQueues: { spot: names.jobQueueSpot, onDemand: names.jobQueueOnDemand },
    jobDefinitions: { single: names.jobDefinition, gang: names.jobDefinitionGang },
    team: "default",
  });
}
