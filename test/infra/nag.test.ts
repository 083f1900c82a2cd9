import { App, Stack, Validations } from "aws-cdk-lib";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import { configurations } from "./configurations";
import { synthesizePlatform, withoutAssets } from "./synthesized";

describe.each(Object.entries(configurations))("a platform %s", (_name, settings) => {
  it("passes CDK's rules and cdk-nag's AwsSolutions rules, but for what infra/acknowledgements.ts gives a reason for", () => {
    const { app, remove } = synthesizePlatform(withoutAssets, settings, "apply-rules");
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    let findings = "";
    try {
      app.synth();
    } catch (error) {
      findings = (error as Error).message;
    }
    remove();
    expect(findings).toBe("");
  });
});

it("hears of what has no reason", () => {
  const app = new App();
  new Bucket(new Stack(app, "Stack"), "Bucket");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth()).toThrow(/AwsSolutions-S1/);
});
