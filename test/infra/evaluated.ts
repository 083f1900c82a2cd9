import type { Template } from "aws-cdk-lib/assertions";

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
export const resourcesOf = (template: Template) =>
  template.toJSON()["Resources"] as Readonly<Record<string, TemplateResource>>;

/** The region with the longest code in the partition `aws`. */
const region = "ap-northeast-1";
const account = "111122223333";
const pseudoParameters: Readonly<Record<string, string>> = {
  "AWS::Partition": "aws",
  "AWS::Region": region,
  "AWS::AccountId": account,
  "AWS::URLSuffix": "amazonaws.com",
};

const arn = (service: string, rest: string) => `arn:aws:${service}:${region}:${account}:${rest}`;
/** The property with a resource's name, the maximum length of the name, and the ARN of a name. */
const kinds: Readonly<Record<string, readonly [nameOf: string, max: number, arnOf: (name: string) => string]>> = {
  "AWS::S3::Bucket": ["BucketName", 63, (name) => `arn:aws:s3:::${name.toLowerCase()}`],
  "AWS::SQS::Queue": ["QueueName", 80, (name) => arn("sqs", name)],
  "AWS::SNS::Topic": ["TopicName", 256, (name) => arn("sns", name)],
  "AWS::Lambda::Function": ["FunctionName", 64, (name) => arn("lambda", `function:${name}`)],
  "AWS::Logs::LogGroup": ["LogGroupName", 512, (name) => arn("logs", `log-group:${name}:*`)],
  "AWS::KMS::Key": ["", 0, () => arn("kms", "key/0a1b2c3d-0000-0000-0000-000000000000")],
  "AWS::IAM::Role": ["RoleName", 64, (name) => `arn:aws:iam::${account}:role/${name}`],
  "AWS::IAM::ManagedPolicy": ["ManagedPolicyName", 128, (name) => `arn:aws:iam::${account}:policy/${name}`],
  "AWS::StepFunctions::StateMachine": ["StateMachineName", 80, (name) => arn("states", `stateMachine:${name}`)],
  "AWS::Events::Rule": ["Name", 64, (name) => arn("events", `rule/${name}`)],
  "AWS::Scheduler::ScheduleGroup": ["Name", 64, (name) => arn("scheduler", `schedule-group/${name}`)],
  // The id of its default security group.
  "AWS::EC2::VPC": ["", 0, () => "sg-0123456789abcdef0"],
  "AWS::ApiGateway::RestApi": ["", 0, () => "a1b2c3d4e5"],
  "AWS::Cognito::UserPool": ["", 0, () => arn("cognito-idp", `userpool/${region}_a1b2c3d4e`)],
};

/**
 * Returns a value of the template with CloudFormation's functions evaluated. A reference to a resource becomes its ARN.
 * A name that CloudFormation generates has its maximum length, so that the value is as long as it can be.
 */
export function evaluated(value: unknown, all: Readonly<Record<string, TemplateResource>>): unknown {
  if (Array.isArray(value)) return value.map((item) => evaluated(item, all));
  if (typeof value !== "object" || value === null) return value;
  const [key, inner] = Object.entries(value)[0] ?? [];
  if (key === "Ref") return pseudoParameters[inner as string] ?? arnOf(inner as string, all);
  if (key === "Fn::GetAtt") return arnOf((inner as readonly string[])[0]!, all);
  if (key === "Fn::Join") {
    const [separator, parts] = inner as readonly [string, readonly unknown[]];
    return parts.map((part) => String(evaluated(part, all))).join(separator);
  }
  if (key === "Fn::Sub") return String(inner).replace(/\$\{([\w:]+)\}/g, (_, name) => pseudoParameters[name] ?? "");
  // Another stack's function.
  if (key === "Fn::ImportValue" || key === "Fn::GetStackOutput") return arn("lambda", `function:${"x".repeat(64)}`);
  if (key?.startsWith("Fn::")) throw new Error(`a policy contains ${key}, which this test does not evaluate`);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, evaluated(one, all)]));
}

function arnOf(id: string, all: Readonly<Record<string, TemplateResource>>): string {
  const type = all[id]?.Type;
  const kind = kinds[type ?? ""];
  if (!kind) throw new Error(`a policy refers to ${id} of the type ${type}, for which this test has no ARN`);
  const [property, max, make] = kind;
  const name = all[id]?.Properties?.[property];
  return make(name === undefined ? id.padEnd(max, "x").slice(0, max) : String(evaluated(name, all)));
}
