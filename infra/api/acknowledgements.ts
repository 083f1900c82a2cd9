import { type Stack, Validations } from "aws-cdk-lib";
import type { DeploymentConfig } from "../config";

/**
 * Acknowledges the intended findings of cdk-nag's AwsSolutions rules on the API. `test/infra/nag.test.ts` checks each
 * mode.
 */
export function acknowledgeApiFindings(stack: Stack, { api: { auth, waf } }: DeploymentConfig): void {
  const acknowledge = (id: string, reason: string): void => {
    Validations.of(stack).acknowledge({ id: `AwsSolutions-${id}`, reason });
  };
  acknowledge(
    "APIG2",
    "Every operation has the validator of parameters and body: it stands in the imported document, where the rule does not look.",
  );
  acknowledge(
    "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
    "Maintained by AWS for its own agent.",
  );
  if (!waf) {
    acknowledge(
      "APIG3",
      auth.mode === "iam"
        ? "API Gateway turns away what IAM has not signed; a web ACL costs $7 a month, and api.waf puts one there."
        : "The operator has turned it off: api.waf is false.",
    );
  }
  if (auth.mode === "cognito") {
    acknowledge(
      "COG8",
      "The plus plan costs by the user; a second factor is required, and nobody signs up by himself.",
    );
  }
  if (auth.mode === "oidc") {
    acknowledge("IAM5[Resource::*]", "X-Ray's actions know no resources (service authorization reference).");
    acknowledge(
      "L1",
      "All functions run the same Node: 22, which the native packages and the container are built for.",
    );
  }
}
