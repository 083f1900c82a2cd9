import { RemovalPolicy } from "aws-cdk-lib";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { DeploymentConfig } from "./config";

export function retentionOf({ retention }: DeploymentConfig): RetentionDays {
  return retention.logDays as RetentionDays;
}

/** A first deployment that fails deletes resources with data, so that their names do not block the next one. */
export function removalOf({ removal }: DeploymentConfig): RemovalPolicy {
  return removal === "retain" ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
