import { receiveText } from "../body";
import { type Call, respond, respondXml } from "../call";
import { malformedXml } from "../errors";
import { requireTags } from "../headers";
import { requireKey } from "../keys";
import { childrenNamed, childText, parseXml } from "../xml";

export async function getObjectTagging(call: Call): Promise<void> {
  const key = requireKey(call.key);
  const tags = call.store.tagsOf(call.bucket, key, call.store.require(call.bucket, key));
  respondXml(call, "Tagging", { TagSet: { Tag: tags.map(([Key, Value]) => ({ Key, Value })) } });
}

export async function putObjectTagging(call: Call): Promise<void> {
  const root = parseXml(await receiveText(call.request));
  const [set] = childrenNamed(root, "TagSet");
  if (root.name !== "Tagging" || !set) throw malformedXml("a <Tagging> with a <TagSet> is expected");
  const tags = childrenNamed(set, "Tag").map(
    (tag) => [childText(tag, "Key") ?? "", childText(tag, "Value") ?? ""] as const,
  );
  await call.store.putTags(call.bucket, requireKey(call.key), requireTags(tags));
  respond(call, 200);
}

export async function deleteObjectTagging(call: Call): Promise<void> {
  await call.store.putTags(call.bucket, requireKey(call.key), []);
  respond(call, 204);
}
