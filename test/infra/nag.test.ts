import { App, Stack, Validations } from "aws-cdk-lib";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import type { RingmasterConfig } from "../../infra/config";
import { apiStack } from "./api-stack";
import { configurations } from "./configurations";
import { synthesizePlatform, withoutAssets } from "./synthesized";

describe.each(Object.entries(configurations))("a platform %s", (_name, settings) => {
  it("passes CDK's rules and cdk-nag's AwsSolutions rules, except the acknowledged findings", () => {
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

const cognito = { auth: { mode: "cognito" } } as const;
const oidc = { auth: { mode: "oidc", issuer: "https://id.example.com", audience: "ringmaster" } } as const;
/** The modes of the API. The default, IAM without a web ACL, is tested with the rest of the platform. */
const modes: readonly (readonly [string, RingmasterConfig])[] = [
  ["IAM behind a web ACL", { api: { waf: true } }],
  ["Cognito", { api: cognito }],
  ["OIDC without a web ACL, for browsers", { api: { ...oidc, waf: false, corsOrigins: ["https://ml.example.com"] } }],
];

it.each(modes)(
  "with %s the API passes CDK's rules and cdk-nag's AwsSolutions rules, but for what has a reason",
  (_name, config) => {
    const { app } = apiStack(config, "apply-rules");
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth({ force: true })).not.toThrow();
  },
);

it("reports a finding without a reason", () => {
  const app = new App();
  new Bucket(new Stack(app, "Stack"), "Bucket");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth()).toThrow(/AwsSolutions-S1/);
});
