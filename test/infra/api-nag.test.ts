import { Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import type { RingmasterConfig } from "../../infra/config";
import { apiStack } from "./api-stack";

const cognito = { auth: { mode: "cognito" } } as const;
const oidc = { auth: { mode: "oidc", issuer: "https://id.example.com", audience: "ringmaster" } } as const;
/** The default, IAM without a web ACL, is in nag.test.ts with the rest of the platform. */
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
