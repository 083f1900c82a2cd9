import { App, Stack, Validations } from "aws-cdk-lib";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import { apiStack } from "./api-stack";
import { configurations } from "./configurations";
import { synthesizePlatform, withoutAssets } from "./synthesized";

/** The third configuration has the resources of these two, except for its API, which has a test of its own below. */
const { "in a VPC that is there, for a trial": trial, ...others } = configurations;

describe.each(Object.entries(others))("a platform %s", (_name, settings) => {
  it("passes cdk-nag's AwsSolutions rules, except the acknowledged findings", () => {
    const { app, remove } = synthesizePlatform(withoutAssets, settings);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    const warn = jest.spyOn(console, "error").mockImplementation();
    let findings = "";
    try {
      app.synth();
    } catch (error) {
      findings = (error as Error).message;
    }
    remove();
    expect(findings).toBe("");
    // CDK prints the findings that do not stop a synthesis.
    expect(warn.mock.calls).toEqual([]);
  });
});

/** The configurations above have the other modes: IAM without a web ACL, and Cognito behind one. */
it("with OIDC the API passes cdk-nag's rules, but for what has a reason", () => {
  const { app } = apiStack({ api: trial?.api ?? {} });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth({ force: true })).not.toThrow();
});

it("reports a finding without a reason", () => {
  const app = new App({ builtinCloudFormationValidation: false });
  new Bucket(new Stack(app, "Stack"), "Bucket");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth()).toThrow(/AwsSolutions-S1/);
});
