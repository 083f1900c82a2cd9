import { App, Stack, Validations } from "aws-cdk-lib";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import { apiStack } from "../api-stack";
import { configurations } from "../configurations";
import { defaults, everything } from "./platforms";

function checked(app: App): App {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

/** The third configuration has the resources of these two, except for its API, which has a test of its own below. */
describe.each([
  ["with the defaults", defaults],
  ["with everything", everything],
])("a platform %s", (_name, platform) => {
  it("passes cdk-nag's AwsSolutions rules, except the acknowledged findings", () => {
    const warn = jest.spyOn(console, "error").mockImplementation();
    let findings = "";
    try {
      checked(platform().app).synth({ force: true });
    } catch (error) {
      findings = (error as Error).message;
    }
    expect(findings).toBe("");
    // CDK prints the findings that do not stop a synthesis.
    expect(warn.mock.calls).toEqual([]);
  });
});

/** The configurations above have the other modes: IAM without a web ACL, and Cognito behind one. */
it("with OIDC the API passes cdk-nag's rules, but for what has a reason", () => {
  const { api = {} } = configurations["in a VPC that is there, for a trial"]!;
  expect(() => checked(apiStack({ api }).app).synth({ force: true })).not.toThrow();
});

it("reports a finding without a reason", () => {
  const app = new App({ builtinCloudFormationValidation: false });
  new Bucket(new Stack(app, "Stack"), "Bucket");
  expect(() => checked(app).synth()).toThrow(/AwsSolutions-S1/);
});
