import { BlockChecksums } from "../blocks";
import { type BodyDigest, receiveBody } from "../body";
import { announce, type Call, respond } from "../call";
import type { ChecksumAlgorithm } from "../checksums";
import { writeCondition } from "../conditions";
import { healingCondition, requireContent } from "../content";
import { FileWriter } from "../disk";
import { checksumHeaders, describeObject, storedHeaders } from "../headers";
import { requireKey } from "../keys";
import { encodeRecord, type ObjectRecord, type PartRecord } from "../record";
import type { Store } from "../store";

export async function putObject(call: Call): Promise<void> {
  const { store, bucket, request } = call;
  const key = requireKey(call.key);
  const condition = writeCondition(request.headers);
  const description = describeObject(request.headers);
  const promised = call.contentDigest(call.key);
  // Avoids a useless upload. `publish` decides.
  if (promised === undefined) store.checkCondition(bucket, key, condition);
  const written = await receiveFile(
    call,
    (digest): ObjectRecord => ({ ...recordOf(call, digest, promised), ...description }),
    { sha256: promised !== undefined },
  );
  const { record } = written;
  const announcement = announce(call, "Object Created", { key: call.key, reason: "PutObject", record });
  await store.publish(bucket, key, written.temporary, await healingCondition(call, condition, promised), announcement);
  respond(call, 200, { etag: `"${record.etag}"`, ...checksumHeaders(record), ...storedHeaders(record) });
}

/**
 * Builds the record of a new write of the call's object, without the fields from its headers.
 *
 * @throws S3Error 400 BadDigest if the key promises other content
 */
export function recordOf(call: Call, { size, md5, sha256, checksum }: BodyDigest, promised: string | undefined) {
  requireContent(call, promised, sha256);
  return { key: call.key, size, etag: md5, ...call.store.newWrite(call.bucket), ...(checksum ? { checksum } : {}) };
}

export function receiveFile<T extends ObjectRecord | PartRecord>(
  call: Pick<Call, "store" | "request">,
  describe: (digest: BodyDigest) => T,
  options: { readonly algorithm?: ChecksumAlgorithm; readonly sha256?: boolean } = {},
): Promise<WrittenFile<T>> {
  return writeFile(call.store, (write) => receiveBody(call.request, write, options), describe);
}

export interface WrittenFile<T> {
  readonly temporary: string;
  readonly record: T;
}

/** Writes the next bytes of a body. Returns undefined if the caller need not wait. */
export type Write = (chunk: Uint8Array) => Promise<void> | undefined;

export async function writeFile<T extends ObjectRecord | PartRecord>(
  store: Store,
  fill: (write: Write) => Promise<BodyDigest>,
  describe: (digest: BodyDigest) => T,
): Promise<WrittenFile<T>> {
  const writer = await FileWriter.create(store.disk.temporary());
  try {
    const blocks = new BlockChecksums();
    const digest = await fill((chunk) => {
      blocks.update(chunk);
      return writer.write(chunk);
    });
    const record = describe(digest);
    await writer.write(encodeRecord(record, blocks.table()));
    await writer.finish();
    return { temporary: writer.file, record };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
