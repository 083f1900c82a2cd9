import { spawnSync } from "node:child_process";
import path from "node:path";
import { configurations } from "../infra/configurations";
import { evaluated, resourcesOf } from "../infra/evaluated";
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

/** Returns all policies of identities in the platform, by stack and logical id. */
function policiesOf(platform: Synthesized): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const name of Object.keys(platform.stacks) as (keyof Synthesized["stacks"])[]) {
    const template = platform.template(name);
    const all = resourcesOf(template);
    for (const type of ["AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"]) {
      for (const [id, { Properties }] of Object.entries(template.findResources(type)))
        found[`${name}/${id}`] = evaluated(Properties["PolicyDocument"], all);
    }
    for (const { Properties } of resources(template, "AWS::IAM::Role")) {
      for (const inline of (Properties["Policies"] ?? []) as readonly { PolicyName: string; PolicyDocument: object }[])
        found[`${name}/${inline.PolicyName}`] = evaluated(inline.PolicyDocument, all);
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
