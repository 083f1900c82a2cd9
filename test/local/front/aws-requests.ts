import { account, region } from "../../../local/account";
import { operations as batchOperations } from "../../../local/batch/api";
import { operations as rowOperations } from "../../../local/dynamodb/operations";
import { operations as eventOperations } from "../../../local/events/api";
import { operations as objectOperations } from "../../../local/s3/route";
import { operations as stateOperations } from "../../../local/states/api/http";
import { functions } from "../../../platform/functions";
import { arnsOf, endedRunsPolicy, endedRunsPolicyName } from "../../../platform/permissions";
import { localConfig, localWorld } from "../../../stack/settings";
import type { Unsigned } from "../../support/sign";

export const ids = { team: "red", run: "run-red", sibling: "run-red-2", other: "run-blue", otherTeam: "blue" } as const;

const sha256 = "a".repeat(64);
const { bucket, prefix, tables } = localConfig();

export const objects = {
  "its training": `teams/${ids.team}/runs/${ids.run}/training/result.json`,
  "its checkpoint": `teams/${ids.team}/runs/${ids.run}/checkpoints/1/manifest.json`,
  "its artifacts": `teams/${ids.team}/runs/${ids.run}/artifacts/manifest.json`,
  "its team's content": `teams/${ids.team}/cas/sha256/${sha256}`,
  "its team's features": `teams/${ids.team}/features/f/manifest.json`,
  "its team's other run": `teams/${ids.team}/runs/${ids.sibling}/training/result.json`,
  "another team's run": `teams/${ids.otherTeam}/runs/${ids.other}/training/result.json`,
  "another team's content": `teams/${ids.otherTeam}/cas/sha256/${sha256}`,
  "another team's run under its id": `teams/${ids.otherTeam}/runs/${ids.run}/training/result.json`,
  "the bucket's root": "root.json",
} as const;

export const rows = [
  ["its gang", tables.gangs, `GANG#${ids.run}`],
  ["its team's other gang", tables.gangs, `GANG#${ids.sibling}`],
  ["another team's gang", tables.gangs, `GANG#${ids.other}`],
  ["its run", tables.catalog, `RUN#${ids.run}`],
  ["another team's run", tables.catalog, `RUN#${ids.other}`],
  ["its metrics", tables.metrics, `RUN#${ids.run}`],
  ["another team's metrics", tables.metrics, `RUN#${ids.other}`],
] as const;

export interface PortRequest {
  readonly service: string;
  readonly operation: string;
  /** The class of its target. */
  readonly target: string;
  readonly needs: readonly { readonly action: string; readonly resource: string }[];
  readonly request: Unsigned;
}

const arn = (service: string, rest: string): string => `arn:aws:${service}:${region}:${account}:${rest}`;
const objectArn = (key: string): string => `arn:aws:s3:::${bucket}/${key}`;

export function portRequests(endpoint: string): readonly PortRequest[] {
  return [
    ...[...rowOperations.keys()].flatMap((name) => rows.map((row) => rowRequest(endpoint, name, row))),
    ...Object.keys(objectOperations).flatMap((name) =>
      Object.entries(objects).flatMap((target) => objectRequests(endpoint, name, target)),
    ),
    ...Object.keys(stateOperations).map((name) => stateRequest(endpoint, name)),
    ...Object.keys(eventOperations).map((name) => {
      const resource = name === "PutEvents" ? arn("events", "event-bus/default") : "*";
      const body = { Name: "ringmaster-tick", Rule: "ringmaster-tick", Entries: [{ Source: "x", DetailType: "x" }] };
      return json(endpoint, "events", "AWSEvents", name, body, resource);
    }),
    ...["DescribeLogGroups", "FilterLogEvents"].map((name) => {
      const logGroupName = "/aws/batch/ringmaster";
      const resource = `${arn("logs", `log-group:${logGroupName}`)}:*`;
      return json(endpoint, "logs", "Logs_20140328", name, { logGroupName, logStreamName: "x" }, resource);
    }),
    ...Object.keys(batchOperations).map((name) => batchRequest(endpoint, name)),
    ...schedulerRequests(endpoint),
    ...["CreateTopic", "ListTopics", "Subscribe", "Unsubscribe", "ListSubscriptionsByTopic", "Publish"].map((name) =>
      query(endpoint, "sns", name, "a topic", arn("sns", "ringmaster-team-blue"), {
        ...{ Name: "hostile", TopicArn: arn("sns", "ringmaster-team-blue"), Message: "hostile" },
        ...{ Protocol: "https", Endpoint: "https://example.com/", SubscriptionArn: "none" },
      }),
    ),
    ...functions.map(({ name }) => {
      const [resource = ""] = arnsOf(`function/${name}`, localWorld());
      const url = `${endpoint}/2015-03-31/functions/${prefix}-${name}/invocations`;
      const needs = [{ action: "lambda:InvokeFunction", resource }];
      return {
        service: "lambda",
        operation: "Invoke",
        target: name,
        needs,
        request: { ...post(url, {}), service: "lambda" },
      };
    }),
    ...arnsOf("run-role", localWorld()).map((resource) =>
      query(endpoint, "iam", "PutRolePolicy", "the run role", resource, {
        ...{ RoleName: resource.split("/").at(-1) ?? "", PolicyName: endedRunsPolicyName },
        PolicyDocument: JSON.stringify(endedRunsPolicy([ids.run]).document),
      }),
    ),
    ...arnsOf("run-role", localWorld()).map((resource) =>
      query(endpoint, "sts", "AssumeRole", "the run role", resource, { RoleArn: resource, RoleSessionName: ids.other }),
    ),
  ];
}

const post = (url: string, body: object): Omit<Unsigned, "service"> => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

function json(
  endpoint: string,
  service: string,
  target: string,
  operation: string,
  body: object,
  resource: string,
): PortRequest {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `${target}.${operation}` };
  const request = { ...post(`${endpoint}/`, body), headers, service };
  return {
    service,
    operation,
    target: "what it names",
    needs: [{ action: `${service}:${operation}`, resource }],
    request,
  };
}

function query(
  endpoint: string,
  service: string,
  operation: string,
  target: string,
  resource: string,
  fields: Readonly<Record<string, string>>,
): PortRequest {
  const request = {
    ...{ method: "POST", url: `${endpoint}/`, service },
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ Action: operation, Version: "2011-06-15", ...fields }).toString(),
  };
  return { service, operation, target, needs: [{ action: `${service}:${operation}`, resource }], request };
}

function rowRequest(endpoint: string, operation: string, [target, TableName, pk]: (typeof rows)[number]): PortRequest {
  const Key = { pk: { S: pk }, sk: { S: "HOSTILE" } };
  const resource = arn("dynamodb", `table/${TableName}`);
  const special: Readonly<Record<string, object>> = {
    BatchGetItem: { RequestItems: { [TableName]: { Keys: [Key] } } },
    BatchWriteItem: { RequestItems: { [TableName]: [{ PutRequest: { Item: Key } }] } },
    TransactWriteItems: { TransactItems: [{ Delete: { TableName, Key } }] },
    Query: { TableName, KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": { S: pk } } },
    PutItem: { TableName, Item: Key },
    UpdateItem: {
      ...{ TableName, Key, UpdateExpression: "SET hostile = :x" },
      ExpressionAttributeValues: { ":x": { S: "x" } },
    },
    CreateTable: { TableName: "hostile" },
    UpdateTimeToLive: { TableName, TimeToLiveSpecification: { AttributeName: "hostile", Enabled: true } },
  };
  const keyed = ["GetItem", "DeleteItem"].includes(operation);
  const body = special[operation] ?? { TableName, ...(keyed ? { Key } : {}) };
  const action = operation === "TransactWriteItems" ? "DeleteItem" : operation;
  const made = json(endpoint, "dynamodb", "DynamoDB_20120810", operation, body, resource);
  return { ...made, target, needs: [{ action: `dynamodb:${action}`, resource }] };
}

/** The actions whose names differ from those of the operations in `local/s3/route.ts`. */
const objectActions: Readonly<Record<string, string>> = {
  "service GET": "ListAllMyBuckets",
  "bucket PUT": "CreateBucket",
  "bucket GET list-type": "ListBucket",
  "bucket GET uploads": "ListBucketMultipartUploads",
  "bucket GET versions": "ListBucketVersions",
  "bucket PUT notification": "PutBucketNotification",
  "bucket POST delete": "DeleteObject",
  "object GET": "GetObject",
  "object HEAD": "GetObject",
  "object DELETE": "DeleteObject",
  "object DELETE uploadId": "AbortMultipartUpload",
  "object DELETE versionId": "DeleteObjectVersion",
};

function objectRequests(
  endpoint: string,
  operation: string,
  [target, key]: readonly [string, string],
): readonly PortRequest[] {
  const [scope = "", method = "", selector = "", copied] = operation.split(" ");
  const action = `s3:${objectActions[operation] ?? "PutObject"}`;
  const path = { service: "/", bucket: `/${bucket}`, object: `/${bucket}/${key}` }[scope] ?? "";
  const values = { uploadId: "0".repeat(48), "list-type": "2", versionId: "none" }[selector] ?? "";
  const parameters = new URLSearchParams(selector && selector !== "copy" ? { [selector]: values } : {});
  if (method === "GET" && scope === "bucket") parameters.set("prefix", key);
  if (method === "PUT" && selector === "uploadId") parameters.set("partNumber", "1");
  const isCopy = selector === "copy" || copied === "copy";
  const isDelete = operation === "bucket POST delete";
  const own = objects["its training"];
  const resource =
    { service: "*", bucket: isDelete ? objectArn(key) : `arn:aws:s3:::${bucket}`, object: objectArn(key) }[scope] ?? "";
  const body = isDelete
    ? `<Delete><Object><Key>${key}</Key></Object></Delete>`
    : method === "PUT" && !isCopy
      ? "hostile"
      : undefined;
  const make = (name: string, to: string, on: string, source?: string): PortRequest => ({
    ...{ service: "s3", operation: name, target },
    needs: [{ action, resource: on }, ...(source ? [{ action: "s3:GetObject", resource: objectArn(source) }] : [])],
    request: {
      ...{ method, service: "s3", url: `${endpoint}${to}${parameters.size > 0 ? `?${parameters}` : ""}` },
      ...(source
        ? { headers: { "x-amz-copy-source": `/${bucket}/${source}`, "x-amz-metadata-directive": "REPLACE" } }
        : {}),
      ...(body === undefined ? {} : { body }),
    },
  });
  if (!isCopy) return [make(operation, path, resource)];
  return [
    make(`${operation} onto`, path, resource, own),
    make(`${operation} from`, `/${bucket}/${own}`, objectArn(own), key),
  ];
}

function stateRequest(endpoint: string, operation: string): PortRequest {
  const [stateMachineArn = ""] = arnsOf("state-machine", localWorld());
  const executionArn = arnsOf("executions", localWorld())[0]!.replace(/\*$/, ids.other);
  const ofExecution = /Execution$|History$/.test(operation) && operation !== "StartExecution";
  const ofMachine = /^(?:Start|List)Execution|StateMachine$/.test(operation) && operation !== "CreateStateMachine";
  const named = ofExecution ? { executionArn } : ofMachine ? { stateMachineArn } : {};
  const resource = operation.startsWith("SendTask") ? stateMachineArn : (Object.values(named)[0] ?? "*");
  const body = { ...named, name: ids.other, taskToken: "none", output: "{}", resourceArn: stateMachineArn };
  return json(endpoint, "states", "AWSStepFunctions", operation, body, resource);
}

function batchRequest(endpoint: string, operation: string): PortRequest {
  const { jobQueues, jobDefinitions } = localConfig();
  const job = arn("batch", "job/any");
  const known: Readonly<Record<string, PortRequest["needs"]>> = {
    submitjob: [
      { action: "batch:SubmitJob", resource: arn("batch", `job-queue/${jobQueues.spot}`) },
      { action: "batch:SubmitJob", resource: arn("batch", `job-definition/${jobDefinitions.single}`) },
    ],
    terminatejob: [{ action: "batch:TerminateJob", resource: job }],
    describejobdefinitions: [{ action: "batch:DescribeJobDefinitions", resource: "*" }],
    describejobs: [{ action: "batch:DescribeJobs", resource: "*" }],
    listjobs: [{ action: "batch:ListJobs", resource: "*" }],
  };
  const body = { jobName: "hostile", jobQueue: jobQueues.spot, jobDefinition: jobDefinitions.single, jobId: "any" };
  return {
    ...{ service: "batch", operation, target: "what it names" },
    needs: known[operation] ?? [{ action: `batch:${operation}`, resource: "*" }],
    request: { ...post(`${endpoint}/v1/${operation}`, { ...body, reason: "hostile" }), service: "batch" },
  };
}

function schedulerRequests(endpoint: string): readonly PortRequest[] {
  const { scheduleGroup, scheduleRoleArn, functionArn } = localConfig().triggers;
  const body = {
    ...{ GroupName: scheduleGroup, ScheduleExpression: "rate(1 minutes)", FlexibleTimeWindow: { Mode: "OFF" } },
    Target: { Arn: functionArn, RoleArn: scheduleRoleArn },
  };
  const names: readonly (readonly [string, string, string])[] = [
    ["CreateSchedule", "POST", "schedules/hostile"],
    ["UpdateSchedule", "PUT", "schedules/hostile"],
    ["GetSchedule", "GET", "schedules/hostile"],
    ["DeleteSchedule", "DELETE", "schedules/hostile"],
    ["ListSchedules", "GET", "schedules"],
    ["CreateScheduleGroup", "POST", "schedule-groups/hostile"],
    ["ListScheduleGroups", "GET", "schedule-groups"],
  ];
  return names.map(([operation, method, path]) => {
    const writes = method === "POST" || method === "PUT";
    const group = writes || path === "schedules" ? "" : `?groupName=${scheduleGroup}`;
    const rest = path
      .replace(/^schedules\//, `schedule/${scheduleGroup}/`)
      .replace(/^schedule-groups/, "schedule-group");
    const resource = operation.startsWith("List") ? "*" : arn("scheduler", rest);
    const passes =
      writes && path.startsWith("schedules/") ? [{ action: "iam:PassRole", resource: scheduleRoleArn }] : [];
    return {
      ...{ service: "scheduler", operation, target: "a schedule" },
      needs: [{ action: `scheduler:${operation}`, resource }, ...passes],
      request: {
        ...{ method, url: `${endpoint}/${path}${group}`, service: "scheduler" },
        ...(writes
          ? { headers: { "content-type": "application/json" }, body: JSON.stringify(passes.length ? body : {}) }
          : {}),
      },
    };
  });
}
