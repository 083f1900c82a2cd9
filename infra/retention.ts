import { RemovalPolicy } from "aws-cdk-lib";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { DeploymentConfig } from "./config";

export function retentionOf({ retention }: DeploymentConfig): RetentionDays {
  return retention.logDays as RetentionDays;
}

/**
 * Returns the effect of `cdk destroy` on resources with data. A first deployment that fails deletes them, so that their
 * names do not block the next one.
 */
export function removalOf({ removal }: DeploymentConfig): RemovalPolicy {
  return removal === "retain" ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
