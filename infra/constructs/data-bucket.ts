import { Duration } from "aws-cdk-lib";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
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

/** Uploads that were given up are paid for until somebody ends them. */
const uploadsGivenUp = { id: "uploads-given-up", abortIncompleteMultipartUploadAfter: Duration.days(7) };

/** As long as an upload may be under way: whoever completes it afterwards is told that it was given up. */
const incomingDays = 7;

/** The bucket of everything, and the one that keeps its access logs. */
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
      removalPolicy,
      bucketName: bucketNameIn(config.prefix),
      // What a mistake overwrites or deletes can be had back for some days.
      versioned: true,
      serverAccessLogsBucket: accessLogs,
      serverAccessLogsPrefix: "data/",
      transitionDefaultMinimumObjectSize: TransitionDefaultMinimumObjectSize.ALL_STORAGE_CLASSES_128_K,
      lifecycleRules: [
        {
          // Everything that a team has: keys begin with its name, and S3's filters know no pattern in the middle. Intelligent tiering, because whatever
          // it holds may be read again at once (a dataset, a champion's weights), and, unlike Standard-IA, it asks neither for a month's minimum nor for
          // retrieval. After a month: most checkpoints are gone by then, and a move costs $0.01 per 1,000 objects. Small objects stay where they are.
          id: "seldom-read",
          prefix: teamsPrefix,
          transitions: [{ storageClass: StorageClass.INTELLIGENT_TIERING, transitionAfter: Duration.days(30) }],
        },
        {
          // Pruned checkpoints are noncurrent versions too: each day is paid for.
          id: "replaced-and-deleted",
          noncurrentVersionExpiration: Duration.days(config.retention.noncurrentVersionDays),
          expiredObjectDeleteMarker: true,
        },
        {
          // What was taken in has long been copied to its content's name; receipts serve who asks again. Versions that this deletes go with the others.
          id: "taken-in",
          prefix: incomingPrefix,
          expiration: Duration.days(incomingDays),
        },
        uploadsGivenUp,
      ],
    });
    const resource = bucket.node.defaultChild as CfnBucket;
    // Natively: the construct's own way is a function that sets it afterwards.
    resource.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } };
    resource.overrideLogicalId("DataBucket");
    (accessLogs.node.defaultChild as CfnBucket).overrideLogicalId("AccessLogBucket");
  }
}
