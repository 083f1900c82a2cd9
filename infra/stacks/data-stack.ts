import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { type TableName, tables } from "../../core/platform/tables";
import { DataBucket } from "../constructs/data-bucket";
import { PlatformTable } from "../constructs/platform-table";

/** What must outlive everything else: the tables and the bucket. */
export class DataStack extends Stack {
  readonly tables: Readonly<Record<TableName, ITable>>;
  readonly bucket: IBucket;

  constructor(scope: Construct, id: string, props: StackProps & { readonly prefix: string }) {
    super(scope, id, { ...props, terminationProtection: true });
    this.tables = Object.fromEntries<ITable>(
      tables.map((definition) => [definition.name, new PlatformTable(this, props.prefix, definition)]),
    ) as Record<TableName, ITable>;
    this.bucket = new DataBucket(this, "Data").bucket;
    new CfnOutput(this, "BucketName", { value: this.bucket.bucketName });
  }
}
