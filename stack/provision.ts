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
import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from "@aws-sdk/client-eventbridge";
import { CreateBucketCommand, PutBucketNotificationConfigurationCommand, S3Client } from "@aws-sdk/client-s3";
import { CreateScheduleGroupCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { CreateStateMachineCommand, SFNClient, UpdateStateMachineCommand } from "@aws-sdk/client-sfn";
import { digestOf } from "../core/digest";
import { account, region } from "../local";
import { functionNameIn, functions } from "../platform/functions";
import { rules } from "../platform/rules";
import { type TableDefinition, tableNameIn, tables } from "../platform/tables";
import { resourceNames, trainerJob } from "../platform/trainer-job";
import { localConfig, localWorld } from "./settings";

export const trainerImage = "ringmaster-trainer";

/**
 * Creates what `infra/stacks/compute-stack.ts` creates on AWS: queues with fair shares for teams, and the trainer's job
 * definitions.
 */
async function createCompute(): Promise<void> {
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

/**
 * Creates in the embedded cloud what `cdk deploy` creates in AWS, through the same APIs and from the same descriptions
 * (`platform`, `state-machines`). It runs at every start: existing resources stay, and changed ones are updated.
 */
export async function provision(definition: string): Promise<void> {
  await Promise.all([
    ...tables.map(createTable),
    createBucket(),
    createStateMachine(definition),
    createCompute(),
    createRules(),
    createScheduleGroup(),
  ]);
}

async function createTable(table: TableDefinition): Promise<void> {
  const client = new DynamoDBClient({});
  const TableName = tableNameIn(localConfig().prefix, table.name);
  const keys = (of: Pick<TableDefinition, "partitionKey" | "sortKey">) => [
    { AttributeName: of.partitionKey.name, KeyType: "HASH" as const },
    { AttributeName: of.sortKey.name, KeyType: "RANGE" as const },
  ];
  const attributes = [table, ...table.indexes].flatMap((of) => [of.partitionKey, of.sortKey]);
  const created = await unlessThere(
    client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: keys(table),
        AttributeDefinitions: attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
        GlobalSecondaryIndexes:
          table.indexes.length === 0
            ? undefined
            : table.indexes.map((index) => ({
                IndexName: index.name,
                KeySchema: keys(index),
                Projection: { ProjectionType: "ALL" as const },
              })),
      }),
    ),
    "ResourceInUseException",
  );
  if (created && table.timeToLive !== undefined) {
    const TimeToLiveSpecification = { AttributeName: table.timeToLive, Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
}

async function createBucket(): Promise<void> {
  const client = new S3Client({});
  const Bucket = localConfig().bucket;
  await unlessThere(client.send(new CreateBucketCommand({ Bucket })), "BucketAlreadyOwnedByYou", "BucketAlreadyExists");
  const NotificationConfiguration = { EventBridgeConfiguration: {} };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
}

async function createStateMachine(template: string): Promise<void> {
  const client = new SFNClient({});
  const { prefix, stateMachineArn } = localConfig();
  const definition = template.replace(/\$\{([a-z-]+)\}/g, (_whole, name: string) => {
    const config = functions.find((one) => one.name === name);
    if (!config) throw new Error(`the state machine names a function that platform/functions.ts does not: ${name}`);
    return functionArn(functionNameIn(prefix, config.name));
  });
  const roleArn = `arn:aws:iam::${account}:role/${prefix}`;
  const created = await unlessThere(
    client.send(
      new CreateStateMachineCommand({
        name: resourceNames(prefix).stateMachine,
        definition,
        roleArn,
        type: "STANDARD",
      }),
    ),
    "StateMachineAlreadyExists",
  );
  if (!created) await client.send(new UpdateStateMachineCommand({ stateMachineArn, definition }));
}

async function createRules(): Promise<void> {
  const client = new EventBridgeClient({});
  const { prefix } = localConfig();
  await Promise.all(
    rules.map(async (rule) => {
      const Name = `${prefix}-${rule.name}`;
      await client.send(
        new PutRuleCommand({
          Name,
          Description: rule.description,
          State: "ENABLED",
          EventPattern: rule.pattern && JSON.stringify(rule.pattern(localWorld())),
          ScheduleExpression: rule.schedule,
        }),
      );
      const Arn = functionArn(functionNameIn(prefix, rule.target));
      await client.send(new PutTargetsCommand({ Rule: Name, Targets: [{ Id: "function", Arn }] }));
    }),
  );
}

async function createScheduleGroup(): Promise<void> {
  const Name = localConfig().triggers.scheduleGroup;
  await unlessThere(new SchedulerClient({}).send(new CreateScheduleGroupCommand({ Name })), "ConflictException");
}

function functionArn(name: string): string {
  return `arn:aws:lambda:${region}:${account}:function:${name}`;
}

/** Awaits a creation. Returns true if it created the resource, and false if the resource existed. */
async function unlessThere(creation: Promise<unknown>, ...there: readonly string[]): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if (error instanceof Error && there.includes(error.name)) return false;
    throw error;
  }
}
