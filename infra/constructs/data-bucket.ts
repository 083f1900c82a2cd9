import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { bucketNameIn } from "../names";

const secure = {
  encryption: BucketEncryption.S3_MANAGED,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  removalPolicy: RemovalPolicy.RETAIN,
} as const;

/** The bucket of everything, and the one that keeps its access logs. */
export class DataBucket extends Construct {
  constructor(scope: Construct, id: string, prefix: string) {
    super(scope, id);
    const accessLogs = new Bucket(this, "AccessLogs", {
      ...secure,
      lifecycleRules: [{ expiration: Duration.days(90) }],
    });
    new Bucket(this, "Bucket", {
      ...secure,
      bucketName: bucketNameIn(prefix),
      // What a mistake overwrites or deletes can be had back for a month.
      versioned: true,
      serverAccessLogsBucket: accessLogs,
      lifecycleRules: [
        { noncurrentVersionExpiration: Duration.days(30), expiredObjectDeleteMarker: true },
        { abortIncompleteMultipartUploadAfter: Duration.days(7) },
      ],
    });
  }
}
