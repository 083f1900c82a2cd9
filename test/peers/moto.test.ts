import { BatchClient, DescribeComputeEnvironmentsCommand, DescribeJobQueuesCommand } from "@aws-sdk/client-batch";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, ListRulesCommand } from "@aws-sdk/client-eventbridge";
import { LambdaClient, ListFunctionsCommand } from "@aws-sdk/client-lambda";
import { CreateBucketCommand, HeadBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { functions } from "../../platform/functions";
import { rules } from "../../platform/rules";
import { tables } from "../../platform/tables";
import { jobQueueNames } from "../../platform/trainer-job";
import { synthesizePlatform, withoutAssets } from "../infra/synthesized";
import { describeWithMoto, MotoServer } from "./moto-server";
import { type CloudFormationTemplate, forMoto } from "./moto-templates";

/** A zip archive without files: what Lambda's emulation wants to see of code. */
const emptyArchive = Buffer.from("504b0506000000000000000000000000000000000000", "hex");

describeWithMoto("moto, an emulation of AWS that shares nothing with ours", () => {
  const platform = synthesizePlatform(withoutAssets);
  const stacks = platform.app.synth().stacks.map(({ stackName, template }) => ({
    stackName: stackName as string,
    template: template as CloudFormationTemplate,
  }));
  platform.remove();
  const outputs = new Map<string, string>();
  let moto: MotoServer;

  beforeAll(async () => {
    moto = await MotoServer.start();
    const client = new S3Client(moto.clientConfig);
    const Bucket = "cdk-hnb659fds-assets-123456789012-us-east-1";
    await client.send(new CreateBucketCommand({ Bucket }));
    const assets = JSON.stringify(stacks).matchAll(/"S3Key":"([^"]+)"/g);
    for (const Key of new Set([...assets].map(([, key]) => key!))) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body: emptyArchive }));
    }
    client.destroy();
  });
  afterAll(() => moto.stop());

  it.each(stacks.map(({ stackName, template }) => [stackName, template] as const))(
    "creates the stack %s, completely",
    async (StackName, whole) => {
      const template = forMoto(whole, outputs);
      await moto.cloudFormation("CreateStack", { StackName, TemplateBody: JSON.stringify(template) });
      const answer = await moto.cloudFormation("DescribeStacks", { StackName });
      expect(/<StackStatus>(\w+)</.exec(answer)?.[1]).toBe("CREATE_COMPLETE");
      for (const [, name, value] of answer.matchAll(
        /<OutputKey>([^<]+)<\/OutputKey>\s*<OutputValue>([^<]*)<\/OutputValue>/g,
      )) {
        outputs.set(`${StackName}/${name}`, value!);
      }
      const made = await moto.cloudFormation("DescribeStackResources", { StackName });
      const ids = new Set([...made.matchAll(/<LogicalResourceId>([^<]+)</g)].map(([, id]) => id!));
      const missing = Object.entries(template.Resources).filter(([id]) => !ids.has(id));
      expect(missing.map(([id, { Type }]) => `${id} (${Type})`)).toEqual([]);
    },
  );

  it("has the tables then, with the keys that the code asks by", async () => {
    const client = new DynamoDBClient(moto.clientConfig);
    for (const { name, partitionKey, sortKey, indexes } of tables) {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: `ringmaster-${name}` }));
      expect(Table?.KeySchema?.map(({ AttributeName }) => AttributeName)).toEqual([partitionKey.name, sortKey.name]);
      expect((Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName)).toEqual(
        indexes.map((index) => index.name),
      );
    }
    client.destroy();
  });

  it("has the queues, each with its machines", async () => {
    const client = new BatchClient(moto.clientConfig);
    const { jobQueues } = await client.send(new DescribeJobQueuesCommand({}));
    expect(jobQueues?.map(({ jobQueueName }) => jobQueueName).sort()).toEqual([...jobQueueNames("ringmaster")].sort());
    const { computeEnvironments } = await client.send(new DescribeComputeEnvironmentsCommand({}));
    // For CPUs and GPUs each: on-demand, cluster and spot.
    const types = computeEnvironments?.map(({ computeResources }) => computeResources?.type).sort();
    expect(types).toEqual(["EC2", "EC2", "EC2", "EC2", "SPOT", "SPOT"]);
    client.destroy();
  });

  it("has the functions, the rules and the bucket", async () => {
    const [lambda, events, s3] = [
      new LambdaClient(moto.clientConfig),
      new EventBridgeClient(moto.clientConfig),
      new S3Client(moto.clientConfig),
    ];
    const { Functions } = await lambda.send(new ListFunctionsCommand({ MaxItems: 50 }));
    const names = (Functions ?? []).map(({ FunctionName }) => FunctionName);
    expect(names).toEqual(expect.arrayContaining(functions.map(({ name }) => `ringmaster-${name}`)));
    const { Rules } = await events.send(new ListRulesCommand({}));
    expect(Rules?.map(({ Name }) => Name)).toEqual(
      expect.arrayContaining(rules.map(({ name }) => `ringmaster-${name}`)),
    );
    await s3.send(new HeadBucketCommand({ Bucket: "ringmaster-data-123456789012-us-east-1" }));
    for (const client of [lambda, events, s3]) client.destroy();
  });
});
