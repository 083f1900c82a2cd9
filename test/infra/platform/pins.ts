import { textOf } from "../policies";

export interface TemplateJson {
  readonly Resources: Readonly<Record<string, ResourceJson>>;
}

interface ResourceJson {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

export interface Pin {
  readonly type: string;
  /** Whether the resource is kept when its stack or its logical id is removed. */
  readonly retained: boolean;
  /** The properties in the template whose change replaces the resource. */
  readonly fixed: Readonly<Record<string, unknown>>;
  /** For a table: its global secondary indexes by name, with everything that may not change under the same name. */
  readonly indexes?: Readonly<Record<string, string>>;
}

export type Pins = Readonly<Record<string, Pin>>;

/**
 * The types of resources that contain data, or whose identity others store, with the properties that are fixed at
 * creation: "Update requires: Replacement" in the CloudFormation reference (`createOnlyProperties` and
 * `conditionalCreateOnlyProperties` of the registry's schemas; for user pools and REST APIs, the reference).
 */
const statefulTypes: Readonly<Record<string, readonly string[]>> = {
  "AWS::DynamoDB::Table": ["TableName", "KeySchema", "LocalSecondaryIndexes", "ImportSourceSpecification"],
  "AWS::S3::Bucket": ["BucketName", "BucketNamePrefix", "BucketNamespace"],
  "AWS::Logs::LogGroup": ["LogGroupName"],
  // Cognito refuses a changed alias or user name attribute, so the pool would have to be replaced.
  "AWS::Cognito::UserPool": ["AliasAttributes", "UsernameAttributes", "UsernameConfiguration"],
  "AWS::Scheduler::ScheduleGroup": ["Name"],
  "AWS::StepFunctions::StateMachine": ["StateMachineName", "StateMachineType"],
  "AWS::Batch::JobQueue": ["JobQueueName", "JobQueueType", "Tags"],
  // Its id is in the URL that callers use.
  "AWS::ApiGateway::RestApi": [],
};

/** The types that must be retained, so that an accident cannot delete data. */
const mustBeRetained: ReadonlySet<string> = new Set([
  "AWS::DynamoDB::Table",
  "AWS::S3::Bucket",
  "AWS::Cognito::UserPool",
]);

/**
 * Returns the pins of a template.
 *
 * @param logs whether log groups count; they do if they are stored with the data
 */
export function pinsOf({ Resources }: TemplateJson, { logs }: { readonly logs: boolean }): Pins {
  const pins: Record<string, Pin> = {};
  for (const [id, { Type, DeletionPolicy, UpdateReplacePolicy, Properties = {} }] of Object.entries(Resources)) {
    const fixed = statefulTypes[Type];
    if (!fixed || (Type === "AWS::Logs::LogGroup" && !logs)) continue;
    pins[id] = {
      type: Type,
      retained: /^Retain/.test(String(DeletionPolicy)) && UpdateReplacePolicy === "Retain",
      fixed: Object.fromEntries(
        fixed.filter((name) => name in Properties).map((name) => [name, brief(Properties[name])]),
      ),
      ...(Type === "AWS::DynamoDB::Table" ? { indexes: indexesOf(Properties) } : {}),
    };
  }
  return pins;
}

function indexesOf(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const indexes = (properties["GlobalSecondaryIndexes"] ?? []) as readonly {
    readonly IndexName: string;
    readonly KeySchema: unknown;
    readonly Projection: { readonly ProjectionType: string };
  }[];
  return Object.fromEntries(
    indexes.map(({ IndexName, KeySchema, Projection }) => [
      IndexName,
      `${brief(KeySchema)}: ${Projection.ProjectionType}`,
    ]),
  );
}

/** Returns a key schema and a name with references as text, and any other value unchanged. */
function brief(value: unknown): unknown {
  if (typeof value === "object" && value !== null && "Fn::Join" in value) return textOf(value);
  if (!Array.isArray(value)) return value;
  const keys = value as readonly { readonly AttributeName?: string; readonly KeyType?: string }[];
  return keys.every(({ AttributeName }) => AttributeName)
    ? keys.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).join(", ")
    : value;
}

export function harmOf(before: Pins, now: Pins): readonly string[] {
  const harm: string[] = [];
  for (const [id, was] of Object.entries(before)) {
    const is = now[id];
    if (!is) {
      harm.push(
        `${id} (${was.type}) is gone: its logical id was removed or renamed, and CloudFormation would delete ${was.retained ? "or abandon " : ""}it.`,
      );
      continue;
    }
    if (is.type !== was.type)
      harm.push(`${id} was ${was.type} and is ${is.type}: CloudFormation would delete the one for the other.`);
    else harm.push(...changesOf(id, was, is));
  }
  for (const [id, { type, retained }] of Object.entries(now)) {
    if (!(id in before)) harm.push(`${id} (${type}) is new, and not in the baseline yet.`);
    if (mustBeRetained.has(type) && !retained)
      harm.push(
        `${id} (${type}) must have a deletion policy that retains it, and the update-replace policy "Retain": it holds data.`,
      );
  }
  return harm;
}

function* changesOf(id: string, was: Pin, is: Pin): Iterable<string> {
  for (const name of new Set([...Object.keys(was.fixed), ...Object.keys(is.fixed)])) {
    const [old, value] = [was.fixed[name] ?? null, is.fixed[name] ?? null].map((each) => JSON.stringify(each));
    if (old !== value)
      yield `${id}.${name} was ${old} and is ${value}: CloudFormation would replace the resource by an empty one.`;
  }
  const [before, now] = [was.indexes ?? {}, is.indexes ?? {}];
  for (const [name, definition] of Object.entries(now)) {
    if (name in before && before[name] !== definition) {
      yield `${id}: the index ${name} has other keys or another projection: DynamoDB cannot change them. Give the new index a new name.`;
    }
  }
  const added = Object.keys(now).filter((name) => !(name in before));
  const removed = Object.keys(before).filter((name) => !(name in now));
  if (added.length + removed.length > 1) {
    yield `${id}: indexes ${[...added, ...removed].join(", ")} are added and removed at once: DynamoDB makes or drops one index an update. Deploy them one by one.`;
  } else if (added.length + removed.length === 1) {
    yield `${id}: the index ${[...added, ...removed][0]} is ${added.length > 0 ? "new: it is filled from the table, which is paid for" : "dropped: nothing may query it any more"}; record it in the baseline once it is deployed everywhere.`;
  }
}
