import { RemovalPolicy } from "aws-cdk-lib";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { DeploymentConfig } from "./config";

/** How long logs are kept: CDK's constants are the days themselves. */
export function retentionOf({ retention }: DeploymentConfig): RetentionDays {
  return retention.logDays as RetentionDays;
}

/** What `cdk destroy` does with what holds data. */
export function removalOf({ removal }: DeploymentConfig): RemovalPolicy {
  return removal === "retain" ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
}
