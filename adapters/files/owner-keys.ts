import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkedSecret, openSecret } from "./checked-document";
import { makeDirectory, syncDirectory } from "./directory";

/** The AWS keys of the owner, who may do everything in one stack's embedded cloud. */
export interface OwnerKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * Reads the random secret of a stack, from which all keys of its embedded cloud are derived. The first call creates the
 * file, which only its owner can read. The file is durable when it returns, so no power loss changes keys that were
 * used.
 *
 * @param data the stack's data directory
 * @throws Error if the file is damaged, because keys derived from an empty secret could be guessed
 */
export function stackSecret(data: string): string {
  const directory = join(data, "iam");
  const file = join(directory, "secret");
  makeDirectory(directory, 0o700);
  if (!existsSync(file)) createSecret(file);
  // Also needed for an existing file, because the process that created it may have died before it synced the directory.
  syncDirectory(directory);
  chmodSync(file, 0o600);
  const secret = openSecret(readFileSync(file, "utf8"));
  if (secret === undefined) {
    throw new Error(
      `${file} is damaged: it must hold 64 hexadecimal digits and their check value. Stop the stack and remove the file; the next start creates another secret, and keys issued before become invalid`,
    );
  }
  return secret;
}

/** Creates the secret. The first of several concurrent calls decides, in this process or in others. */
function createSecret(file: string): void {
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    writeFileSync(unfinished, checkedSecret(randomBytes(32).toString("hex")), { mode: 0o600, flag: "wx", flush: true });
    linkSync(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Derives the owner's keys. The texts contain a space, so that no session token in base64url can have the same HMAC.
 */
export function ownerKeysOf(secret: string): OwnerKeys {
  const derive = (purpose: string): Buffer => createHmac("sha256", secret).update(purpose).digest();
  return {
    accessKeyId: `RMOWNER${derive("owner access key").toString("hex").slice(0, 13).toUpperCase()}`,
    secretAccessKey: derive("owner secret key").toString("base64url").slice(0, 40),
  };
}

export function ownerKeys(data: string): OwnerKeys {
  return ownerKeysOf(stackSecret(data));
}
