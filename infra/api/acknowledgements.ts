import { type Stack, Validations } from "aws-cdk-lib";
import type { DeploymentConfig } from "../config";

/** Acknowledges cdk-nag's intended findings on the API. `test/infra/platform/nag.ts` checks each mode. */
export function acknowledgeApiFindings(stack: Stack, { api: { auth, waf } }: DeploymentConfig): void {
  const acknowledge = (id: string, reason: string): void => {
    Validations.of(stack).acknowledge({ id: `AwsSolutions-${id}`, reason });
  };
  acknowledge(
    "APIG2",
    "Every operation has a validator of parameters and body, in the imported document, which the rule does not inspect.",
  );
  acknowledge(
    "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
    "Maintained by AWS for its own agent.",
  );
  if (!waf) {
    acknowledge(
      "APIG3",
      auth.mode === "iam"
        ? "API Gateway refuses requests without an IAM signature. A web ACL costs $7 a month; api.waf adds one."
        : "The operator has turned it off: api.waf is false.",
    );
  }
  if (auth.mode === "cognito") {
    acknowledge(
      "COG8",
      "The plus plan costs money per user. A second factor is required, and users cannot sign up themselves.",
    );
  }
  if (auth.mode === "oidc") {
    acknowledge("IAM5[Resource::*]", "X-Ray's actions do not support resources (service authorization reference).");
    acknowledge("L1", "All functions use Node 22, because the native packages and the container are built for it.");
  }
}
