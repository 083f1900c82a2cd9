import { account, region } from "../../account";
import { receiveText } from "../body";
import { type Call, queryNumber, respond, respondXml } from "../call";
import { malformedXml, notImplemented, S3Error } from "../errors";
import { childrenNamed, childText, parseXml } from "../xml";

export const owner = { ID: account.padStart(64, "0"), DisplayName: "ringmaster" };

export async function listBuckets(call: Call): Promise<void> {
  const prefix = call.query.get("prefix") ?? "";
  const after = Buffer.from(call.query.get("continuation-token") ?? "", "base64url").toString();
  const limit = queryNumber(call.query, "max-buckets", 10_000, 10_000);
  const matching = call.store.buckets.list().filter(({ name }) => name.startsWith(prefix) && name > after);
  const page = matching.slice(0, limit);
  respondXml(call, "ListAllMyBucketsResult", {
    Buckets: {
      Bucket: page.map(({ name, created }) => ({
        Name: name,
        CreationDate: new Date(created).toISOString(),
        BucketRegion: region,
      })),
    },
    Owner: owner,
    Prefix: prefix || undefined,
    ContinuationToken: matching.length > limit ? Buffer.from(page.at(-1)?.name ?? "").toString("base64url") : undefined,
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
  const body = await receiveText(call.request);
  const requested = body.trim() === "" ? undefined : childText(parseXml(body), "LocationConstraint");
  if (requested && requested !== region) {
    throw new S3Error(
      400,
      "InvalidLocationConstraint",
      `The specified location-constraint is not valid: ${requested}.`,
    );
  }
  await call.store.buckets.create(bucket);
  respond(call, 200, { location: `/${bucket}` });
}

export async function headBucket(call: Call): Promise<void> {
  call.store.buckets.require(call.bucket);
  respond(call, 200, { "x-amz-bucket-region": region, "x-amz-access-point-alias": "false" });
}

/** Answers GetBucketLocation. An empty location means us-east-1. */
export async function getBucketLocation(call: Call): Promise<void> {
  call.store.buckets.require(call.bucket);
  respondXml(call, "LocationConstraint", {});
}

export async function deleteBucket(call: Call): Promise<void> {
  await call.store.buckets.remove(call.bucket);
  respond(call, 204);
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

export async function getBucketNotification(call: Call): Promise<void> {
  call.store.buckets.require(call.bucket);
  const on = call.notifications.isOn(call.bucket);
  respondXml(call, "NotificationConfiguration", on ? { EventBridgeConfiguration: {} } : {});
}
