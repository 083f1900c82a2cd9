import { Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { type Synthesized, synthesizePlatform } from "./synthesized";

let platform: Synthesized;
let findings = "";
beforeAll(() => {
  platform = synthesizePlatform();
  Validations.of(platform.app).addPlugins(new AwsSolutionsChecks(platform.app));
  try {
    platform.app.synth();
  } catch (error) {
    findings = (error as Error).message;
  }
});
afterAll(() => platform.remove());

it("passes cdk-nag's AwsSolutions rules, but for what infra/acknowledgements.ts gives a reason for", () => {
  expect(findings).toBe("");
});

/** Actions that know no resources (service authorization reference), so that "*" is all that can be said. */
const withoutResources = new Set([
  "batch:DescribeJobs",
  "batch:ListJobs",
  "ecr:GetAuthorizationToken",
  "logs:CreateLogDelivery",
  "logs:DeleteLogDelivery",
  "logs:DescribeLogGroups",
  "logs:DescribeResourcePolicies",
  "logs:GetLogDelivery",
  "logs:ListLogDeliveries",
  "logs:PutResourcePolicy",
  "logs:UpdateLogDelivery",
  "xray:GetSamplingRules",
  "xray:GetSamplingTargets",
  "xray:PutTelemetryRecords",
  "xray:PutTraceSegments",
]);

interface Policy {
  readonly Properties: {
    readonly PolicyDocument: {
      readonly Statement: readonly { readonly Action: string | readonly string[]; readonly Resource: unknown }[];
    };
  };
}

it.each(["compute", "workflow", "triggers"] as const)(
  "policies of %s name their actions, and resources where there are any",
  (name) => {
    const policies = Object.values(platform.template(name).findResources("AWS::IAM::Policy")) as Policy[];
    for (const { Action, Resource } of policies.flatMap(({ Properties }) => Properties.PolicyDocument.Statement)) {
      const actions = [Action].flat();
      expect(actions.filter((action) => action.includes("*"))).toEqual([]);
      if (Resource === "*") expect(actions.filter((action) => !withoutResources.has(action))).toEqual([]);
    }
  },
);
