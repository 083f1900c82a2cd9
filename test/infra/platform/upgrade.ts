import fs from "node:fs";
import path from "node:path";
import { apiStack } from "../api-stack";
import { repository } from "../synthesized";
import { harmOf, type Pins, pinsOf, type TemplateJson } from "./pins";
import { defaults, stacksOf } from "./platforms";

/**
 * Whether to record the baseline, which represents the deployed state. To change it deliberately, see docs/deploy.md,
 * "Changing what holds data".
 */
const record = process.env["RINGMASTER_RECORD_BASELINE"] === "1";

it("an upgrade keeps resources with data, and resources that others know by id", () => {
  const file = path.join(repository, "infra", "baseline.json");
  const platform = defaults();
  const templates = stacksOf(platform).map((stack) => [stack, platform.template(stack)] as const);
  const cognito = apiStack({ api: { auth: { mode: "cognito" } } }).template;
  const now = Object.fromEntries(
    [...templates, ["api with cognito", cognito] as const].map(([stack, template]) => [
      stack,
      pinsOf(template.toJSON() as TemplateJson, { logs: stack === "data" }),
    ]),
  );
  if (record) fs.writeFileSync(file, JSON.stringify(now));
  const before = JSON.parse(fs.readFileSync(file, "utf8")) as Readonly<Record<string, Pins>>;
  const harm = Object.entries({ ...now, ...before }).flatMap(([stack]) =>
    harmOf(before[stack] ?? {}, now[stack] ?? {}).map((text) => `${stack}: ${text}`),
  );
  expect(harm).toEqual([]);
});

describe("an upgrade is stopped that", () => {
  const table = (
    more: object = {},
    policies: object = { DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" },
  ) => ({
    Type: "AWS::DynamoDB::Table",
    ...policies,
    Properties: { TableName: "t", KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }], ...more },
  });
  const index = (IndexName: string, attribute = "a") => ({
    IndexName,
    KeySchema: [{ AttributeName: attribute, KeyType: "HASH" }],
    Projection: { ProjectionType: "ALL" },
  });
  const withIndexes = (...GlobalSecondaryIndexes: readonly object[]) => ({ T: table({ GlobalSecondaryIndexes }) });
  const pins = (resources: Readonly<Record<string, object>>) =>
    pinsOf({ Resources: resources as TemplateJson["Resources"] }, { logs: true });

  it.each<[string, Readonly<Record<string, object>>, Readonly<Record<string, object>>, RegExp]>([
    ["removes a table", { T: table() }, {}, /^T \(AWS::DynamoDB::Table\) is gone/],
    ["renames a logical id", { T: table() }, { U: table() }, /^T .* is gone/],
    [
      "renames a table",
      { T: table() },
      { T: table({ TableName: "u" }) },
      /^T\.TableName was "t" and is "u": CloudFormation would replace/,
    ],
    ["changes a key", { T: table() }, { T: table({ KeySchema: [] }) }, /^T\.KeySchema was/],
    [
      "makes a bucket of a table",
      { T: table() },
      { T: { Type: "AWS::S3::Bucket", DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" } },
      /^T was AWS::DynamoDB::Table and is AWS::S3::Bucket/,
    ],
    [
      "lets a table go with its stack",
      { T: table() },
      { T: table({}, { DeletionPolicy: "Delete" }) },
      /^T .* must have a deletion policy/,
    ],
    ["changes an index", withIndexes(index("i")), withIndexes(index("i", "b")), /^T: the index i has other keys/],
    [
      "adds two indexes",
      withIndexes(),
      withIndexes(index("i"), index("j")),
      /^T: indexes i, j are added and removed at once/,
    ],
    [
      "swaps one index for another",
      withIndexes(index("i")),
      withIndexes(index("j")),
      /^T: indexes j, i are added and removed at once/,
    ],
    ["adds an index", withIndexes(), withIndexes(index("i")), /^T: the index i is new: .*record it/],
    ["drops an index", withIndexes(index("i")), withIndexes(), /^T: the index i is dropped/],
    ["brings a table that the baseline does not know", {}, { T: table() }, /^T .* is new, and not in the baseline/],
    [
      "gives a queue other tags",
      { Q: { Type: "AWS::Batch::JobQueue", Properties: {} } },
      { Q: { Type: "AWS::Batch::JobQueue", Properties: { Tags: { a: "b" } } } },
      /^Q\.Tags was null and is \{"a":"b"\}/,
    ],
  ])("%s", (_name, before, now, expected) => {
    expect(harmOf(pins(before), pins(now))[0]).toMatch(expected);
  });

  it("but not one that changes what can be changed in place", () => {
    const other = { BillingMode: "PAY_PER_REQUEST", Tags: [{ Key: "a", Value: "b" }], OnDemandThroughput: {} };
    expect(harmOf(pins({ T: table() }), pins({ T: table(other) }))).toEqual([]);
  });
});
