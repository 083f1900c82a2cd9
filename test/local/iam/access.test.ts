import { dynamoDbAccesses } from "../../../local/iam/access/dynamodb";
import {
  batchAccesses,
  eventsAccess,
  lambdaAccess,
  logsAccess,
  schedulerAccesses,
  statesAccesses,
} from "../../../local/iam/access/json";
import { s3Accesses } from "../../../local/iam/access/s3";
import type { Access } from "../../../local/iam/policy";

const flat = (accesses: readonly Access[]) => accesses.map(({ action, resource }) => `${action} ${resource}`);
const here = (service: string) => `arn:aws:${service}:us-east-1:000000000000`;
const table = (name: string) => `${here("dynamodb")}:table/${name}`;

it.each<[string, string, Record<string, unknown>, readonly string[], readonly unknown[]]>([
  [
    "a read",
    "GetItem",
    { TableName: "T", Key: { pk: { S: "a" }, sk: { S: "b" } } },
    [`dynamodb:GetItem ${table("T")}`],
    [["a"]],
  ],
  ["a write", "PutItem", { TableName: "T", Item: { pk: { S: "a" } } }, [`dynamodb:PutItem ${table("T")}`], [["a"]]],
  [
    "a table by its ARN",
    "PutItem",
    { TableName: table("T"), Item: { pk: { N: "1" } } },
    [`dynamodb:PutItem ${table("T")}`],
    [["1"]],
  ],
  [
    "a query",
    "Query",
    {
      TableName: "T",
      KeyConditionExpression: "#p = :p AND begins_with(sk, :s)",
      ExpressionAttributeNames: { "#p": "pk" },
      ExpressionAttributeValues: { ":p": { S: "a" }, ":s": { S: "b" } },
    },
    [`dynamodb:Query ${table("T")}`],
    [["a"]],
  ],
  [
    "a query whose partition comes second",
    "Query",
    {
      TableName: "T",
      KeyConditionExpression: "sk = :s AND pk=:p",
      ExpressionAttributeValues: { ":p": { S: "a" }, ":s": { S: "b" } },
    },
    [`dynamodb:Query ${table("T")}`],
    [["a"]],
  ],
  [
    "a query of an index: its keys are others",
    "Query",
    { TableName: "T", IndexName: "i" },
    [`dynamodb:Query ${table("T")}/index/i`],
    [undefined],
  ],
  ["a scan", "Scan", { TableName: "T" }, [`dynamodb:Scan ${table("T")}`], [undefined]],
  [
    "a batch of reads",
    "BatchGetItem",
    { RequestItems: { T: { Keys: [{ pk: { S: "a" } }, { pk: { S: "b" } }] }, U: { Keys: [{ id: { S: "c" } }] } } },
    [`dynamodb:BatchGetItem ${table("T")}`, `dynamodb:BatchGetItem ${table("U")}`],
    [["a", "b"], undefined],
  ],
  [
    "a batch of writes",
    "BatchWriteItem",
    {
      RequestItems: {
        T: [{ PutRequest: { Item: { pk: { S: "a" } } } }, { DeleteRequest: { Key: { pk: { S: "b" } } } }],
      },
    },
    [`dynamodb:BatchWriteItem ${table("T")}`],
    [["a", "b"]],
  ],
  [
    "a transaction: its parts",
    "TransactWriteItems",
    {
      TransactItems: [
        { Put: { TableName: "T", Item: { pk: { S: "a" } } } },
        { Update: { TableName: "T", Key: { pk: { S: "b" } } } },
        { Delete: { TableName: "T", Key: { pk: { S: "c" } } } },
        { ConditionCheck: { TableName: "T", Key: { pk: { S: "d" } } } },
      ],
    },
    ["PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"].map((name) => `dynamodb:${name} ${table("T")}`),
    [["a"], ["b"], ["c"], ["d"]],
  ],
])("DynamoDB: %s", (_what, operation, body, expected, keys) => {
  const accesses = dynamoDbAccesses(operation, body, (name) => (name === "T" ? "pk" : undefined));
  expect(flat(accesses)).toEqual(expected);
  expect(accesses.map(({ context }) => context?.()["dynamodb:leadingkeys"])).toEqual(keys);
});

it.each<[string, string, string, Record<string, string>, readonly string[], Record<string, string>]>([
  [
    "a put",
    "PUT",
    "",
    { "if-none-match": "*" },
    ["s3:PutObject arn:aws:s3:::b/k"],
    { "s3:if-none-match": "*", "s3:objectcreationoperation": "true" },
  ],
  [
    "a part",
    "PUT",
    "partNumber=1&uploadId=u",
    {},
    ["s3:PutObject arn:aws:s3:::b/k"],
    { "s3:objectcreationoperation": "false" },
  ],
  [
    "an upload's begin",
    "POST",
    "uploads",
    {},
    ["s3:PutObject arn:aws:s3:::b/k"],
    { "s3:objectcreationoperation": "false" },
  ],
  [
    "an upload's end",
    "POST",
    "uploadId=u",
    {},
    ["s3:PutObject arn:aws:s3:::b/k"],
    { "s3:objectcreationoperation": "true" },
  ],
  ["an upload's abort", "DELETE", "uploadId=u", {}, ["s3:AbortMultipartUpload arn:aws:s3:::b/k"], {}],
  [
    "a copy",
    "PUT",
    "",
    { "x-amz-copy-source": "/c/a%20b?versionId=1" },
    ["s3:PutObject arn:aws:s3:::b/k", "s3:GetObject arn:aws:s3:::c/a b"],
    { "s3:objectcreationoperation": "true" },
  ],
  ["a look", "HEAD", "", {}, ["s3:GetObject arn:aws:s3:::b/k"], {}],
  ["what it does not know", "GET", "tagging&uploads", {}, ["s3:Unknown(object GET uploads) arn:aws:s3:::b/k"], {}],
])("S3: %s", (_what, method, query, headers, expected, context) => {
  const accesses = s3Accesses({ method, bucket: "b", key: "k", query: new URLSearchParams(query), headers });
  expect(flat(accesses)).toEqual(expected);
  expect(accesses[0]!.context?.()).toEqual(context);
});

it("S3: lists", () => {
  const query = new URLSearchParams("list-type=2&prefix=a/&max-keys=10");
  const [access] = s3Accesses({ method: "GET", bucket: "b", key: "", query, headers: {} });
  expect(flat([access!])).toEqual(["s3:ListBucket arn:aws:s3:::b"]);
  expect(access!.context?.()).toEqual({ "s3:prefix": "a/", "s3:max-keys": "10" });
});

it.each<[string, readonly Access[], readonly string[]]>([
  [
    "SubmitJob: queue and definition",
    batchAccesses("submitjob", { jobQueue: "q", jobDefinition: "d:3" }),
    [`batch:SubmitJob ${here("batch")}:job-queue/q`, `batch:SubmitJob ${here("batch")}:job-definition/d:3`],
  ],
  ["TerminateJob", batchAccesses("terminatejob", { jobId: "j" }), [`batch:TerminateJob ${here("batch")}:job/j`]],
  ["an operation of administrators", batchAccesses("deletejobqueue", {}), ["batch:deletejobqueue *"]],
  [
    "Invoke",
    [lambdaAccess("/2015-03-31/functions/f/invocations")],
    [`lambda:InvokeFunction ${here("lambda")}:function:f`],
  ],
  [
    "Invoke by ARN",
    [lambdaAccess(`/2015-03-31/functions/${encodeURIComponent(`${here("lambda")}:function:f`)}/invocations`)],
    [`lambda:InvokeFunction ${here("lambda")}:function:f`],
  ],
  ["GetFunction", [lambdaAccess("/2015-03-31/functions/f")], ["lambda:Administer *"]],
  [
    "SendTaskSuccess",
    statesAccesses("SendTaskSuccess", { taskToken: "t" }, () => "m"),
    [`states:SendTaskSuccess ${here("states")}:stateMachine:m`],
  ],
  [
    "StartExecution",
    statesAccesses("StartExecution", { stateMachineArn: "arn" }, () => undefined),
    ["states:StartExecution arn"],
  ],
  [
    "StopExecution",
    statesAccesses("StopExecution", { executionArn: "arn" }, () => undefined),
    ["states:StopExecution arn"],
  ],
  [
    "FilterLogEvents",
    [logsAccess("FilterLogEvents", { logGroupName: "/g" })],
    [`logs:FilterLogEvents ${here("logs")}:log-group:/g:*`],
  ],
  ["PutEvents", [eventsAccess("PutEvents")], [`events:PutEvents ${here("events")}:event-bus/default`]],
  [
    "CreateSchedule hands a role over",
    schedulerAccesses("POST", new URL("http://s/schedules/n"), { GroupName: "g", Target: { RoleArn: "role" } }),
    [`scheduler:CreateSchedule ${here("scheduler")}:schedule/g/n`, "iam:PassRole role"],
  ],
  [
    "DeleteSchedule",
    schedulerAccesses("DELETE", new URL("http://s/schedules/n?groupName=g"), {}),
    [`scheduler:DeleteSchedule ${here("scheduler")}:schedule/g/n`],
  ],
  ["ListSchedules", schedulerAccesses("GET", new URL("http://s/schedules"), {}), ["scheduler:ListSchedules *"]],
])("%s", (_what, accesses, expected) => {
  expect(flat(accesses)).toEqual(expected);
});
