import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from "@aws-sdk/client-eventbridge";
import { CreateBucketCommand, PutBucketNotificationConfigurationCommand, S3Client } from "@aws-sdk/client-s3";
import { CreateScheduleGroupCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { CreateStateMachineCommand, SFNClient, UpdateStateMachineCommand } from "@aws-sdk/client-sfn";
import { functionNameIn, functions } from "../../platform/functions";
import { rules } from "../../platform/rules";
import { type TableDefinition, tableNameIn, tables } from "../../platform/tables";
import { resourceNames } from "../../platform/trainer-job";
import { account, region } from "../account";
import { createCompute } from "./provision-compute";
import { localConfig, localWorld } from "./settings";

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
    const found = functions.find((one) => one.name === name);
    if (!found) throw new Error(`the state machine names a function that platform/functions.ts does not: ${name}`);
    return functionArn(functionNameIn(prefix, found.name));
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
  const Name = localConfig().retraining.scheduleGroup;
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
