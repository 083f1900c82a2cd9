import { receiveText } from "../body";
import { type Call, respond, respondXml } from "../call";
import { malformedXml, notImplemented, S3Error } from "../errors";
import { childrenNamed, parseXml } from "../xml";

export async function listBuckets(call: Call): Promise<void> {
  const buckets = call.store.buckets.list();
  respondXml(call, "ListAllMyBucketsResult", {
    Buckets: {
      Bucket: buckets.map(({ name, created }) => ({ Name: name, CreationDate: new Date(created).toISOString() })),
    },
  });
}

export async function createBucket(call: Call): Promise<void> {
  const { bucket } = call;
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || /\.\.|^\d+\.\d+\.\d+\.\d+$/.test(bucket)) {
    throw new S3Error(400, "InvalidBucketName", "The specified bucket is not valid.", {
      extra: { BucketName: bucket },
    });
  }
  if ((await receiveText(call.request)).trim() !== "") throw notImplemented("<CreateBucketConfiguration>");
  await call.store.buckets.create(bucket);
  respond(call, 200, { location: `/${bucket}` });
}

/** Sets whether a bucket's events go to EventBridge: all or none. Queues, topics and functions are not supported. */
export async function putBucketNotification(call: Call): Promise<void> {
  call.store.buckets.require(call.bucket);
  const root = parseXml(await receiveText(call.request));
  if (root.name !== "NotificationConfiguration") throw malformedXml("a <NotificationConfiguration> is expected");
  const other = root.children.find(({ name }) => name !== "EventBridgeConfiguration");
  if (other) throw notImplemented(`<${other.name}>, only <EventBridgeConfiguration>`);
  await call.notifications.configure(call.bucket, childrenNamed(root, "EventBridgeConfiguration").length > 0);
  respond(call, 200);
}
