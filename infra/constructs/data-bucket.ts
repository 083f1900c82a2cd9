import { Duration } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type CfnBucket,
  ObjectOwnership,
  StorageClass,
  TransitionDefaultMinimumObjectSize,
} from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { incomingPrefix, teamsPrefix } from "../../core/object-keys";
import type { DeploymentConfig } from "../config";
import { bucketNameIn } from "../names";
import { removalOf } from "../retention";

const secure = {
  encryption: BucketEncryption.S3_MANAGED,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
} as const;

/** Deletes abandoned uploads, which cost money until they are ended. */
const uploadsGivenUp = { id: "uploads-given-up", abortIncompleteMultipartUploadAfter: Duration.days(7) };

/** The maximum duration of an upload. Completing it later fails, because it was deleted. */
const incomingDays = 7;

export class DataBucket extends Construct {
  constructor(scope: Construct, id: string, config: DeploymentConfig) {
    super(scope, id);
    const removalPolicy = removalOf(config);
    const accessLogs = new Bucket(this, "AccessLogs", {
      ...secure,
      removalPolicy,
      lifecycleRules: [{ id: "old-logs", expiration: Duration.days(90) }, uploadsGivenUp],
    });
    const bucket = new Bucket(this, "Bucket", {
      ...secure,
      ...this.encryption(config),
      removalPolicy,
      bucketName: bucketNameIn(config.prefix),
      // Overwritten or deleted objects can be restored for some days.
      versioned: true,
      serverAccessLogsBucket: accessLogs,
      serverAccessLogsPrefix: "data/",
      transitionDefaultMinimumObjectSize: TransitionDefaultMinimumObjectSize.ALL_STORAGE_CLASSES_128_K,
      lifecycleRules: [
        {
          // Applies to all data of teams, because keys begin with a team's name and S3's filters support no pattern in
          // the middle. Intelligent tiering is used because any object may be read again at once (a dataset, a
          // champion's weights). Unlike Standard-IA it has neither a minimum of a month nor a retrieval fee. The move
          // is after a month, when most checkpoints are deleted, because it costs $0.01 per 1,000 objects. Small
          // objects stay.
          id: "seldom-read",
          prefix: teamsPrefix,
          transitions: [{ storageClass: StorageClass.INTELLIGENT_TIERING, transitionAfter: Duration.days(30) }],
        },
        {
          // Deleted manifests and overwritten documents. Tensors and content are erased with their versions (ADR 059).
          id: "replaced-and-deleted",
          noncurrentVersionExpiration: Duration.days(config.retention.noncurrentVersionDays),
          expiredObjectDeleteMarker: true,
        },
        {
          // Received content has been copied to its final name, and receipts answer only repeated requests. The
          // noncurrent rule deletes the resulting versions.
          id: "taken-in",
          prefix: incomingPrefix,
          expiration: Duration.days(incomingDays),
        },
        uploadsGivenUp,
      ],
    });
    const resource = bucket.node.defaultChild as CfnBucket;
    // Set directly, because the construct's own property creates a function that sets it after the deployment.
    resource.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } };
    resource.overrideLogicalId("DataBucket");
    (accessLogs.node.defaultChild as CfnBucket).overrideLogicalId("AccessLogBucket");
  }

  /** The bucket of access logs keeps S3's own key, because S3 cannot deliver them with another. */
  private encryption({ encryption: { bucketKeyArn } }: DeploymentConfig): Partial<BucketProps> {
    if (bucketKeyArn === undefined) return {};
    const encryptionKey = Key.fromKeyArn(this, "Key", bucketKeyArn);
    // A key of the bucket's own spares a call of KMS for each object.
    return { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true };
  }
}
