import { receiveText } from "../body";
import { type Call, respond, respondXml } from "../call";
import { malformedXml, notImplemented } from "../errors";
import { childrenNamed, parseXml } from "../xml";

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
