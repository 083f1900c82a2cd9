import { announce, type Call, respondXml } from "../call";
import { checksumElement, parseChecksumAlgorithm } from "../checksums";
import { writeCondition } from "../conditions";
import { healingCondition } from "../content";
import { invalidArgument, invalidRequest } from "../errors";
import { describeObject, storedHeaders } from "../headers";
import { requireKey } from "../keys";
import type { ObjectRecord } from "../record";
import { recordOf, writeFile } from "./put";
import { copyBytes, openSource } from "./source";

export async function copyObject(call: Call): Promise<void> {
  const { store, bucket, request } = call;
  const { headers } = request;
  const key = requireKey(call.key);
  store.buckets.require(bucket);
  const condition = writeCondition(headers);
  const replaceMetadata = isReplaced(headers["x-amz-metadata-directive"]);
  const requested = describeObject(headers);
  const source = openSource(call);
  try {
    const onItself = source.bucket === bucket && source.key === call.key;
    if (onItself && !replaceMetadata && !requested.encryption) {
      throw invalidRequest(
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
      );
    }
    const described = replaceMetadata ? requested : source.record;
    const requestedAlgorithm = headers["x-amz-checksum-algorithm"];
    const algorithm =
      typeof requestedAlgorithm === "string"
        ? parseChecksumAlgorithm(requestedAlgorithm)
        : source.record.checksum?.algorithm;
    const promised = call.contentDigest(call.key);
    const whole = { start: 0, end: source.record.size - 1 };
    const written = await writeFile(
      store,
      (write) =>
        copyBytes(call, source, whole, write, { ...(algorithm ? { algorithm } : {}), sha256: promised !== undefined }),
      (digest): ObjectRecord => ({
        ...recordOf(call, digest, promised),
        headers: described.headers,
        metadata: described.metadata,
        ...(requested.encryption ? { encryption: requested.encryption } : {}),
      }),
    );
    const { record } = written;
    const announcement = announce(call, "Object Created", { key: call.key, reason: "CopyObject", record });
    await store.publish(
      bucket,
      key,
      written.temporary,
      await healingCondition(call, condition, promised),
      announcement,
    );
    const { etag, modified, checksum } = record;
    const fields = {
      LastModified: new Date(modified).toISOString(),
      ETag: `"${etag}"`,
      ...(checksum ? { [checksumElement(checksum.algorithm)]: checksum.value, ChecksumType: checksum.type } : {}),
    };
    respondXml(call, "CopyObjectResult", fields, storedHeaders(record));
  } finally {
    source.release();
  }
}

function isReplaced(value: string | readonly string[] | undefined): boolean {
  if (value === undefined || value === "COPY") return false;
  if (value === "REPLACE") return true;
  throw invalidArgument("Unknown directive: it must be COPY or REPLACE.", "x-amz-metadata-directive", String(value));
}
