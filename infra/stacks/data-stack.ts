import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { tables } from "../../core/platform/tables";
import type { DeploymentConfig } from "../config";
import { DataBucket } from "../constructs/data-bucket";
import { PlatformTable } from "../constructs/platform-table";
import { bucketNameIn } from "../names";

/** What must outlive everything else: the tables and the bucket. */
export class DataStack extends Stack {
  constructor(scope: Construct, id: string, { config, ...props }: StackProps & { readonly config: DeploymentConfig }) {
    super(scope, id, { ...props, terminationProtection: true });
    const { prefix } = config;
    for (const definition of tables) new PlatformTable(this, prefix, definition);
    new DataBucket(this, "Data", prefix);
    new CfnOutput(this, "BucketName", { value: bucketNameIn(prefix) });
  }
}
