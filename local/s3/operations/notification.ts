import { receiveText } from "../body";
import { type Call, respond, respondXml } from "../call";
import { malformedXml, notImplemented } from "../errors";
import { childrenNamed, parseXml } from "../xml";

/** Events go to EventBridge, all of a bucket's or none; queues, topics and functions are not served. */
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
