import { spawnSync } from "node:child_process";
import path from "node:path";
import { configurations } from "../infra/configurations";
import { resources, type Synthesized, synthesizePlatform, withoutAssets } from "../infra/synthesized";

/** A Python with parliament, a linter of IAM policies with AWS's lists of actions, resources and conditions. */
const python = process.env["RINGMASTER_PEERS_PARLIAMENT"] || "python3";
const found = spawnSync(python, ["-c", "import parliament"]).status === 0;

/** Accepted findings of parliament 1.6.4, with the reason. Entries without a finding must be removed. */
const exceptions: readonly { readonly issue: string; readonly at: RegExp; readonly reason: string }[] = [
  {
    issue: "RESOURCE_MISMATCH",
    at: / \[(\{"action": "states:SendTask(Failure|Heartbeat|Success)", "required_format": "\*"\}(, )?)+\]$/,
    reason:
      "parliament's list has no resources for these actions. Step Functions checks the state machine, as CDK grants it.",
  },
  {
    issue: "RESOURCE_MISMATCH",
    at: / \[\{"action": "states:DescribeExecution", "required_format": "arn:\*:states:\*:\*:express:\*:\*:\*"\}\]$/,
    reason: "parliament requires every kind of resource of an action. No state machine here is an express workflow.",
  },
  {
    issue: "RESOURCE_MISMATCH",
    at: / \[\{"action": "batch:SubmitJob", "required_format": "arn:\*:batch:\*:\*:job\/\*"\}\]$/,
    reason: 'Queue and definition suffice (AWS Batch user guide, "Resource: Restrict to a job queue").',
  },
];

const world: Readonly<Record<string, string>> = {
  "AWS::Partition": "aws",
  "AWS::Region": "us-east-1",
  "AWS::AccountId": "111122223333",
  "AWS::URLSuffix": "amazonaws.com",
};

/** Returns a template's value with CloudFormation's functions evaluated. A resource of the template has a sample ARN. */
function evaluated(value: unknown, types: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => evaluated(item, types));
  if (typeof value !== "object" || value === null) return value;
  const [key, inner] = Object.entries(value)[0] ?? [];
  if (key === "Ref") return world[inner as string] ?? sampleOf(types.get(inner as string), inner as string);
  if (key === "Fn::GetAtt") {
    const [id = ""] = inner as readonly string[];
    return sampleOf(types.get(id), id);
  }
  if (key === "Fn::Join") {
    const [separator, parts] = inner as readonly [string, readonly unknown[]];
    return parts.map((part) => String(evaluated(part, types))).join(separator);
  }
  // Another stack's function.
  if (key === "Fn::ImportValue" || key === "Fn::GetStackOutput")
    return "arn:aws:lambda:us-east-1:111122223333:function:imported";
  if (key?.startsWith("Fn::")) throw new Error(`a policy contains ${key}, which this test does not evaluate`);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, evaluated(one, types)]));
}

const services: Readonly<Record<string, (id: string) => string>> = {
  // The id of its default security group.
  "AWS::EC2::VPC": () => "sg-0123456789abcdef0",
  "AWS::S3::Bucket": (id) => `arn:aws:s3:::${id.toLowerCase()}`,
  "AWS::SQS::Queue": (id) => `arn:aws:sqs:us-east-1:111122223333:${id}`,
  "AWS::SNS::Topic": (id) => `arn:aws:sns:us-east-1:111122223333:${id}`,
  "AWS::Lambda::Function": (id) => `arn:aws:lambda:us-east-1:111122223333:function:${id}`,
  "AWS::Logs::LogGroup": (id) => `arn:aws:logs:us-east-1:111122223333:log-group:${id}:*`,
  "AWS::KMS::Key": () => "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-0000-0000-0000-000000000000",
  "AWS::IAM::Role": (id) => `arn:aws:iam::111122223333:role/${id}`,
  "AWS::StepFunctions::StateMachine": (id) => `arn:aws:states:us-east-1:111122223333:stateMachine:${id}`,
};

function sampleOf(type: string | undefined, id: string): string {
  const make = services[type ?? ""];
  if (!make) throw new Error(`a policy refers to ${id} of the type ${type}, for which this test has no sample ARN`);
  return make(id);
}

/** Returns all policies of identities in the platform, by stack and logical id. */
function policiesOf(platform: Synthesized): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(platform.stacks) as (keyof Synthesized["stacks"])[]) {
    const template = platform.template(name);
    const all = template.toJSON()["Resources"] as Readonly<Record<string, { readonly Type: string }>>;
    const types = new Map(Object.entries(all).map(([id, { Type }]) => [id, Type]));
    for (const type of ["AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"]) {
      for (const [id, { Properties }] of Object.entries(template.findResources(type)))
        found[`${name}/${id}`] = evaluated(Properties["PolicyDocument"], types);
    }
    for (const { Properties } of resources(template, "AWS::IAM::Role")) {
      for (const inline of (Properties["Policies"] ?? []) as readonly { PolicyName: string; PolicyDocument: object }[])
        found[`${name}/${inline.PolicyName}`] = evaluated(inline.PolicyDocument, types);
    }
  }
  return found;
}

const title = found ? "parliament" : `parliament (skipped: ${python} does not have it)`;
(found ? describe : describe.skip)(title, () => {
  const used = new Set<object>();

  it.each(["with the defaults", "with everything"])("finds nothing unexplained in the policies: %s", (name) => {
    const platform = synthesizePlatform(withoutAssets, configurations[name]);
    const policies = policiesOf(platform);
    platform.remove();
    expect(Object.keys(policies).length).toBeGreaterThan(20);
    const { stdout, stderr } = spawnSync(python, [path.join(__dirname, "parliament-lint.py")], {
      encoding: "utf8",
      input: JSON.stringify(policies),
    });
    if (stdout === "") throw new Error(stderr);
    const unexplained = (JSON.parse(stdout) as readonly (readonly string[])[]).filter(
      ([policy = "", issue, detail]) => {
        const exception = exceptions.find((one) => one.issue === issue && one.at.test(`${policy} ${detail}`));
        if (exception) used.add(exception);
        return !exception;
      },
    );
    expect(unexplained).toEqual([]);
  });

  it("needs each of the exceptions", () => {
    expect(exceptions.filter((exception) => !used.has(exception))).toEqual([]);
  });
});
