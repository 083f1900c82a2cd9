import {
  BatchClient,
  CreateComputeEnvironmentCommand,
  CreateJobQueueCommand,
  CreateSchedulingPolicyCommand,
  DescribeComputeEnvironmentsCommand,
  DescribeJobDefinitionsCommand,
  DescribeJobQueuesCommand,
  DescribeSchedulingPoliciesCommand,
  RegisterJobDefinitionCommand,
  type RegisterJobDefinitionCommandInput,
  UpdateJobQueueCommand,
} from "@aws-sdk/client-batch";
import { digestOf } from "../../core/digest";
import { resourceNames, trainerJob } from "../../platform/trainer-job";
import { account, region } from "../account";
import { localConfig } from "./settings";

/** The name of the trainer's image in job definitions. */
export const trainerImage = "ringmaster-trainer";

/**
 * Creates what `infra/stacks/compute-stack.ts` creates on AWS: queues with fair shares for teams, and the trainer's job
 * definitions.
 */
export async function createCompute(): Promise<void> {
  const client = new BatchClient({});
  const { prefix, jobQueues: queues } = localConfig();
  const names = resourceNames(prefix);
  const policy = await createPolicy(client, names.schedulingPolicy);
  await Promise.all([
    ...Object.entries(queues).map(([use, queue]) =>
      createQueue(client, queue, use.startsWith("spot") ? "SPOT" : "EC2", policy),
    ),
    registerDefinition(client, {
      ...definitionBase,
      jobDefinitionName: names.jobDefinition,
      type: "container",
      containerProperties: container,
    }),
    registerDefinition(client, {
      ...definitionBase,
      jobDefinitionName: names.jobDefinitionGang,
      type: "multinode",
      nodeProperties: { numNodes: 2, mainNode: 0, nodeRangeProperties: [{ targetNodes: "0:", container }] },
    }),
  ]);
}

const container = {
  image: trainerImage,
  logConfiguration: {
    logDriver: "awslogs" as const,
    options: { "awslogs-group": localConfig().jobLogGroup },
  },
  resourceRequirements: [
    { type: "VCPU" as const, value: "1" },
    { type: "MEMORY" as const, value: "2048" },
  ],
};

const definitionBase = {
  retryStrategy: {
    attempts: trainerJob.attempts,
    evaluateOnExit: trainerJob.evaluateOnExit.map((rule) => ({ ...rule })),
  },
  timeout: { attemptDurationSeconds: trainerJob.timeoutSeconds },
};

/** Creates a scheduling policy with the same weight for every team. */
async function createPolicy(client: BatchClient, name: string): Promise<string> {
  const arn = `arn:aws:batch:${region}:${account}:scheduling-policy/${name}`;
  const { schedulingPolicies } = await client.send(new DescribeSchedulingPoliciesCommand({ arns: [arn] }));
  if (!schedulingPolicies?.length) {
    await client.send(
      new CreateSchedulingPolicyCommand({ name, fairsharePolicy: { shareDecaySeconds: trainerJob.shareDecaySeconds } }),
    );
  }
  return arn;
}

async function createQueue(
  client: BatchClient,
  queue: string,
  type: "SPOT" | "EC2",
  schedulingPolicyArn: string,
): Promise<void> {
  const compute = `${queue}-compute`;
  const { computeEnvironments } = await client.send(
    new DescribeComputeEnvironmentsCommand({ computeEnvironments: [compute] }),
  );
  if (!computeEnvironments?.length) {
    await client.send(
      new CreateComputeEnvironmentCommand({
        computeEnvironmentName: compute,
        type: "MANAGED",
        state: "ENABLED",
        computeResources: {
          type,
          minvCpus: 0,
          maxvCpus: 1024,
          instanceTypes: ["optimal"],
          subnets: ["subnet-local"],
          securityGroupIds: ["sg-local"],
          instanceRole: `arn:aws:iam::${account}:instance-profile/ringmaster`,
        },
      }),
    );
  }
  const { jobQueues } = await client.send(new DescribeJobQueuesCommand({ jobQueues: [queue] }));
  const computeEnvironmentOrder = [{ order: 1, computeEnvironment: compute }];
  if (!jobQueues?.length) {
    await client.send(
      new CreateJobQueueCommand({
        jobQueueName: queue,
        priority: 1,
        state: "ENABLED",
        schedulingPolicyArn,
        computeEnvironmentOrder,
      }),
    );
  } else if (jobQueues[0]!.schedulingPolicyArn !== schedulingPolicyArn) {
    await client.send(new UpdateJobQueueCommand({ jobQueue: queue, schedulingPolicyArn, computeEnvironmentOrder }));
  }
}

/** Registers a job definition if it has changed, because each registration creates a revision. */
async function registerDefinition(client: BatchClient, definition: RegisterJobDefinitionCommandInput): Promise<void> {
  const fingerprint = digestOf(definition).slice(0, 16);
  const { jobDefinitions } = await client.send(
    new DescribeJobDefinitionsCommand({ jobDefinitionName: definition.jobDefinitionName, status: "ACTIVE" }),
  );
  if (jobDefinitions?.some((one) => one.tags?.["fingerprint"] === fingerprint)) return;
  await client.send(new RegisterJobDefinitionCommand({ ...definition, tags: { fingerprint } }));
}
