import { type BodyDigest, receiveBody } from "../body";
import { announce, type Call, respond } from "../call";
import type { ChecksumAlgorithm } from "../checksums";
import { checkWrite, writeCondition } from "../conditions";
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
  checkWrite(condition, store.find(bucket, key), call.key); // spares a lost race its upload; what counts is the check in publish
  const { temporary, record } = await receiveFile(
    call,
    ({ size, md5, checksum }): ObjectRecord => ({
      key: call.key,
      size,
      etag: md5,
      ...store.newWrite(),
      ...description,
      ...(checksum ? { checksum } : {}),
    }),
  );
  const announcement = announce(call, "Object Created", { key: call.key, reason: "PutObject", record });
  await store.publish(bucket, key, temporary, condition, announcement);
  respond(call, 200, { etag: `"${record.etag}"`, ...checksumHeaders(record), ...storedHeaders(record) });
}

/** Receives a body into a temporary file, verified, with its record behind it; flushed. */
export function receiveFile<T extends ObjectRecord | PartRecord>(
  call: Pick<Call, "store" | "request">,
  describe: (digest: BodyDigest) => T,
  algorithm?: ChecksumAlgorithm,
): Promise<WrittenFile<T>> {
  return writeFile(
    call.store,
    (writer) => receiveBody(call.request, (chunk) => writer.write(chunk), algorithm ? { algorithm } : {}),
    describe,
  );
}

export interface WrittenFile<T> {
  readonly temporary: string;
  readonly record: T;
}

/** Writes bytes from anywhere, then their record. Whatever fails, nothing is left of it. */
export async function writeFile<T extends ObjectRecord | PartRecord>(
  store: Store,
  fill: (writer: FileWriter) => Promise<BodyDigest>,
  describe: (digest: BodyDigest) => T,
): Promise<WrittenFile<T>> {
  const writer = await FileWriter.create(store.disk.temporary());
  try {
    const record = describe(await fill(writer));
    await writer.write(encodeRecord(record));
    await writer.finish();
    return { temporary: writer.file, record };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}
