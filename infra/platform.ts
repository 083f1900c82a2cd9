import path from "node:path";
import { type App, Tags } from "aws-cdk-lib";
import { acknowledgeFindings } from "./acknowledgements";
import { type RingmasterConfig, readConfig } from "./config";
import { addBoundary } from "./permissions-boundary";
import type { PlatformStacks } from "./platform-stacks";
import { ApiStack } from "./stacks/api-stack";
import { ComputeStack } from "./stacks/compute-stack";
import { DataStack } from "./stacks/data-stack";
import { ObservabilityStack } from "./stacks/observability-stack";
import { TriggersStack } from "./stacks/triggers-stack";
import { WorkflowStack } from "./stacks/workflow-stack";
import { trainerImage } from "./trainer-image";

export interface PlatformSources {
  readonly repository: string;
  readonly bundles: string;
}

/**
 * Types whose tags change only by replacing the resource: a queue has a name, and compute environments end their jobs.
 */
const tagsAtCreationOnly = [
  "AWS::Batch::JobQueue",
  "AWS::Batch::ComputeEnvironment",
  "AWS::Batch::SchedulingPolicy",
  "AWS::EC2::PlacementGroup",
];

/** One stack per lifecycle. Names come from `platform`, as in the embedded cloud. @throws ConfigError */
export function definePlatform(
  app: App,
  { repository, bundles }: PlatformSources,
  settings: RingmasterConfig = {},
): PlatformStacks {
  const config = readConfig(settings, app.node);
  const { prefix } = config;
  const account = config.account ?? process.env["CDK_DEFAULT_ACCOUNT"];
  // The CLI invents a region if it finds no credentials. Without an account, the templates fit any account and region.
  const region = config.region ?? (account === undefined ? undefined : process.env["CDK_DEFAULT_REGION"]);
  const props = { config, env: { account, region } };

  const data = new DataStack(app, `${prefix}-data`, props);
  const compute = new ComputeStack(app, `${prefix}-compute`, {
    ...props,
    trainerImage: (scope, puller) => trainerImage(scope, puller, config, repository),
  });
  const workflow = new WorkflowStack(app, `${prefix}-workflow`, {
    ...props,
    bundles,
    trainerImage: compute.trainerImage,
    nodeModules: path.join(repository, "node_modules"),
  });
  const api = new ApiStack(app, `${prefix}-api`, { ...props, bundles });
  const triggers = new TriggersStack(app, `${prefix}-triggers`, { ...props, functions: workflow.functions });
  const observability = new ObservabilityStack(app, `${prefix}-observability`, {
    ...props,
    otherAlarms: [workflow.deadLetters, ...triggers.undelivered],
  });
  // The stacks refer to each other by name (names.ts), so CloudFormation does not know their order.
  for (const stack of [compute, workflow]) stack.addStackDependency(data);
  api.addStackDependency(workflow);
  Tags.of(app).add("ringmaster", prefix);
  for (const [key, value] of Object.entries(config.tags)) {
    Tags.of(app).add(key, value, { excludeResourceTypes: [...tagsAtCreationOnly] });
  }
  if (config.permissionsBoundary !== undefined) addBoundary(app, config.permissionsBoundary);
  const stacks: PlatformStacks = { data, compute, workflow, api, triggers, observability };
  acknowledgeFindings(prefix, stacks);
  return stacks;
}
