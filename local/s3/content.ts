import { createHash } from "node:crypto";
import type { Call } from "./call";
import type { WriteCondition } from "./conditions";
import { isDamage } from "./damage";
import { S3Error } from "./errors";
import { requireKey } from "./keys";
import { readObject } from "./operations/read";
import type { ObjectRecord } from "./record";
import type { OpenObject } from "./store";

/**
 * Checks content against the digest that its key promises.
 * @throws S3Error 400 BadDigest if the key promises other content
 */
export function requireContent(call: Call, promised: string | undefined, actual: string | undefined): void {
  if (promised === undefined || actual === promised) return;
  throw new S3Error(
    400,
    "BadDigest",
    `The key ${call.key} promises content with SHA-256 ${promised}, but the body has ${actual ?? "another"}. Nothing was stored.`,
  );
}

/**
 * Returns the condition for publishing content. It first compares the stored object with the key's digest. If the
 * object is damaged or has other content, the write replaces it without a condition.
 */
export async function healingCondition(
  call: Call,
  condition: WriteCondition,
  promised: string | undefined,
): Promise<WriteCondition> {
  if (promised === undefined || !condition.absent) return condition;
  return (await holds(call, promised)) ? condition : {};
}

async function holds(call: Call, promised: string): Promise<boolean> {
  let open: OpenObject;
  try {
    open = call.store.open(call.bucket, requireKey(call.key));
  } catch (error) {
    if (isDamage(error) || (error instanceof S3Error && error.code === "NoSuchKey")) return false;
    throw error;
  }
  try {
    return (await sha256Of(call, open)) === promised;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  } finally {
    open.release();
  }
}

/**
 * Computes the digest of a multipart object before it is published. Its record has no file yet, but its parts exist.
 */
export function sha256OfParts(call: Call, record: ObjectRecord): Promise<string> {
  return sha256Of(call, { record, descriptor: -1, table: { at: 0, bytes: 0, crc32: 0 } });
}

async function sha256Of(
  call: Call,
  open: Pick<OpenObject, "record" | "descriptor" | "table" | "body">,
): Promise<string> {
  const hash = createHash("sha256");
  const whole = { start: 0, end: open.record.size - 1 };
  for await (const block of readObject(call.store, call.bucket, open, whole)) hash.update(block);
  return hash.digest("hex");
}
