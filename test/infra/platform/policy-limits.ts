import { evaluated, resourcesOf, type TemplateResource } from "../evaluated";
import type { Synthesized } from "../synthesized";

interface Statement {
  readonly Action?: string | readonly string[];
  readonly Principal?: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
interface Document {
  readonly Statement: readonly Statement[];
}
/** A policy as its service stores it: the documents of a role's inline policies count together. */
interface Policy {
  readonly at: string;
  readonly type: string;
  readonly documents: readonly Document[];
}

const statementsOf = ({ documents }: Policy) => documents.flatMap(({ Statement }) => Statement);
const characters = ({ documents }: Policy) => documents.reduce((sum, one) => sum + JSON.stringify(one).length, 0);
/** IAM does not count white space. */
const withoutSpace = ({ documents }: Policy) =>
  documents.reduce((sum, one) => sum + JSON.stringify(one).replace(/\s/g, "").length, 0);

const principalsIn = (principal: unknown) =>
  typeof principal === "object" && principal !== null ? Object.values(principal).flat().length : 1;

type Limit = readonly [what: string, max: number, measure: (policy: Policy) => number];

/**
 * The quotas of the services, which deployments exceed without a word from CDK. Those that an account can have raised
 * have their default.
 */
export const limits: Readonly<Record<string, readonly Limit[]>> = {
  // IAM user guide, "IAM and AWS STS quotas".
  "inline policies of a role": [["characters", 10_240, withoutSpace]],
  "AWS::IAM::ManagedPolicy": [["characters", 6_144, withoutSpace]],
  "trust policy": [["characters", 2_048, withoutSpace]],
  // SQS developer guide, "Amazon SQS policy quotas".
  "AWS::SQS::QueuePolicy": [
    ["bytes", 8_192, characters],
    ["statements", 20, (policy) => statementsOf(policy).length],
    [
      "principals",
      50,
      (policy) => statementsOf(policy).reduce((sum, { Principal }) => sum + principalsIn(Principal), 0),
    ],
    [
      "conditions",
      10,
      (policy) =>
        statementsOf(policy).flatMap(({ Condition = {} }) => Object.values(Condition).flatMap(Object.keys)).length,
    ],
    [
      "actions in a statement",
      7,
      (policy) => Math.max(...statementsOf(policy).map(({ Action = [] }) => [Action].flat().length)),
    ],
  ],
  // SNS developer guide, "Policy quotas".
  "AWS::SNS::TopicPolicy": [
    ["bytes", 30_720, characters],
    ["statements", 100, (policy) => statementsOf(policy).length],
  ],
  // S3 user guide, "Bucket policies": 20 KB.
  "AWS::S3::BucketPolicy": [["bytes", 20_480, characters]],
  // KMS developer guide, "Resource quotas": 32 KB.
  "AWS::KMS::Key": [["bytes", 32_768, characters]],
  // VPC user guide, "Amazon VPC quotas".
  "AWS::EC2::VPCEndpoint": [["characters", 20_480, withoutSpace]],
  // Lambda developer guide, "Lambda quotas": 20 KB for all permissions of a function.
  "AWS::Lambda::Permission": [["bytes", 20_480, characters]],
};

export function policiesOf(platform: Synthesized): readonly Policy[] {
  return (Object.keys(platform.stacks) as (keyof Synthesized["stacks"])[]).flatMap((stack) => {
    const all = resourcesOf(platform.template(stack));
    const grouped = new Map<string, Policy>();
    for (const [id, resource] of Object.entries(all)) {
      for (const { owner, type, document } of documentsIn(id, resource)) {
        const at = `${stack}/${owner}: ${type}`;
        const documents = [...(grouped.get(at)?.documents ?? []), evaluated(document, all) as Document];
        grouped.set(at, { at, type, documents });
      }
    }
    return [...grouped.values()];
  });
}

function* documentsIn(id: string, { Type, Properties = {} }: TemplateResource) {
  if (Type === "AWS::Lambda::Permission") {
    const { Action, FunctionName, Principal, SourceArn } = Properties;
    const Sid = id.padEnd(100, "x");
    const Condition = { ArnLike: { "AWS:SourceArn": SourceArn } };
    const document = {
      Sid,
      Effect: "Allow",
      Action,
      Resource: FunctionName,
      Principal: { Service: Principal },
      Condition,
    };
    yield { owner: JSON.stringify(FunctionName), type: Type, document: { Statement: [document] } };
    return;
  }
  for (const [path, document] of documentsUnder(Properties)) {
    if (Type === "AWS::IAM::Policy") {
      for (const role of Properties["Roles"] as readonly unknown[])
        yield { owner: (role as { readonly Ref: string }).Ref, type: "inline policies of a role", document };
    } else if (Type === "AWS::IAM::Role") {
      const trust = path === "AssumeRolePolicyDocument";
      yield { owner: id, type: trust ? "trust policy" : "inline policies of a role", document };
    } else yield { owner: id, type: Type, document };
  }
}

function documentsUnder(value: unknown, path = ""): readonly (readonly [path: string, document: unknown])[] {
  if (typeof value !== "object" || value === null) return [];
  if ("Statement" in value && Array.isArray(value.Statement)) return [[path, value]];
  return Object.entries(value).flatMap(([key, one]) => documentsUnder(one, path === "" ? key : `${path}.${key}`));
}
