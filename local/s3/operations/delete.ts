import { deleteAccess } from "../../iam/access/s3";
import { receiveText } from "../body";
import { announce, type Call, respond, respondXml } from "../call";
import { writeCondition } from "../conditions";
import { malformedXml, S3Error, toS3Error } from "../errors";
import { requireKey } from "../keys";
import { childrenNamed, childText, parseXml } from "../xml";

export async function deleteObject(call: Call): Promise<void> {
  call.store.buckets.require(call.bucket);
  const announcement = announce(call, "Object Deleted", { key: call.key, reason: "DeleteObject" });
  const version = call.query.get("versionId") ?? "null";
  await call.store.remove(call.bucket, requireKey(call.key), announcement, {
    ...writeCondition(call.request.headers),
    ...(version === "null" ? {} : { version }),
  });
  respond(call, 204);
}

const maxKeysPerDelete = 1000;
const deletesAtOnce = 16;

export async function deleteObjects(call: Call): Promise<void> {
  call.store.buckets.require(call.bucket);
  const root = parseXml(await receiveText(call.request));
  const objects = childrenNamed(root, "Object");
  if (root.name !== "Delete" || objects.length === 0 || objects.length > maxKeysPerDelete) {
    throw malformedXml(`a <Delete> of 1 to ${maxKeysPerDelete} <Object> is expected, here are ${objects.length}`);
  }
  const quiet = childText(root, "Quiet") === "true";
  const deleted: { readonly Key: string }[] = [];
  const errors: { readonly Key: string; readonly Code: string; readonly Message: string }[] = [];
  const remove = async (object: (typeof objects)[number]): Promise<void> => {
    const key = childText(object, "Key") ?? "";
    const etag = childText(object, "ETag");
    const versionId = childText(object, "VersionId") ?? "null";
    const version = versionId === "null" ? undefined : versionId;
    try {
      call.caller?.authorize(deleteAccess(call.bucket, key, version));
      if (key === "") throw new S3Error(400, "UserKeyMustBeSpecified", "The bucket key must be specified.");
      const condition = { ...(etag === undefined ? {} : { etag }), ...(version === undefined ? {} : { version }) };
      const announcement = announce(call, "Object Deleted", { key, reason: "DeleteObjects" });
      await call.store.remove(call.bucket, requireKey(key), announcement, condition);
      deleted.push({ Key: key });
    } catch (error) {
      const { code, message } = toS3Error(error, call.store.disk.root);
      errors.push({ Key: key, Code: code, Message: message });
    }
  };
  // Several at once share the syncs of the disk.
  for (let at = 0; at < objects.length; at += deletesAtOnce) {
    await Promise.all(objects.slice(at, at + deletesAtOnce).map(remove));
  }
  respondXml(call, "DeleteResult", { Deleted: quiet ? [] : deleted, Error: errors });
}
