import { createHmac, randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type TokenRecord, tokenIdOf, tokenMatches } from "../../core/access/tokens";
import { checkedSecret, openSecret } from "./checked-document";
import { createCheckedFile, createFile, DamagedFileError, readCheckedFile, syncDirectory } from "./checked-file";

const rawSecretBytes = 32;

/** Stores the tokens of a stack's API, one file each. Creating and revoking need no lock and take effect at once. */
export interface TokenStore {
  required(): Promise<boolean>;
  verify(token: string): Promise<TokenRecord | undefined>;
  /** Returns the owner of an access key with its signing secret, or `undefined` if the key is unknown. */
  signer(accessKeyId: string): Promise<Signer | undefined>;
  add(record: TokenRecord): Promise<void>;
  list(): Promise<readonly TokenRecord[]>;
  /** Revokes a token. Returns false if it does not exist. */
  revoke(id: string): Promise<boolean>;
}

/** A token's keys for AWS Signature Version 4. */
export interface SigningKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Signer extends SigningKeys {
  readonly record: TokenRecord;
}

const idPattern = /^[0-9a-f]{12}$/;
const accessKeyPattern = /^rmt-([0-9a-f]{12})$/;

/**
 * Creates the token store.
 * @param data the stack's data directory
 */
export function createTokenStore(data: string): TokenStore {
  const directory = tokenDirectory(data);
  const fileOf = (id: string): string => join(directory, `${id}.json`);

  /**
   * Reads the record of a token.
   * @throws DamagedFileError, because a damaged record must not look like a revoked token
   */
  function read(id: string): TokenRecord | undefined {
    const remedy = `Revoke the token (ringmaster tokens revoke ${id}) and make another`;
    const record = readCheckedFile<TokenRecord>(fileOf(id), "id", remedy);
    if (record === undefined || (isRecord(record) && record.id === id)) return record;
    throw new DamagedFileError(fileOf(id), "it is not the record of this token", remedy);
  }

  return {
    async required() {
      // Called for each request. A synchronous call takes a tenth of the time of an asynchronous one.
      return [directory, markerOf(data)].some((path) => statSync(path, { throwIfNoEntry: false }) !== undefined);
    },

    async verify(token) {
      const id = tokenIdOf(token);
      const record = id === undefined ? undefined : read(id);
      return record && tokenMatches(token, record) ? record : undefined;
    },

    async signer(accessKeyId) {
      const id = accessKeyPattern.exec(accessKeyId)?.[1];
      const record = id === undefined ? undefined : read(id);
      if (!record) return undefined;
      // Verifying a signature needs the key itself. The key is derived from the record and a separate secret, and is
      // not stored.
      const secretAccessKey = createHmac("sha256", await tokenSecret(directory))
        .update(`execute-api ${record.id} ${record.sha256}`)
        .digest("base64url");
      return { accessKeyId, secretAccessKey, record };
    },

    async add(record) {
      await requireTokens(data);
      await createCheckedFile(fileOf(record.id), record);
    },

    async list() {
      const names = await readdir(directory).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      });
      const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
      return ids
        .map(read)
        .filter((record) => record !== undefined)
        .sort((a, b) => (a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id) ? -1 : 1));
    },

    async revoke(id) {
      if (!idPattern.test(id) || !existsSync(fileOf(id))) return false;
      await rm(fileOf(id), { force: true });
      await syncDirectory(directory);
      return true;
    },
  };
}

/** Makes the API require a token, permanently, even while none exists. Idempotent. */
export async function requireTokens(data: string): Promise<void> {
  mkdirSync(tokenDirectory(data), { recursive: true, mode: 0o700 });
  closeSync(openSync(markerOf(data), "a", 0o600));
  await syncDirectory(data);
}

/**
 * Returns the path of the marker. It is outside of the tokens' directory, so callers still need a token if that
 * directory is lost.
 */
function markerOf(data: string): string {
  return join(data, "tokens-required");
}

export async function signingKeys(store: TokenStore, id: string): Promise<SigningKeys | undefined> {
  const signer = await store.signer(`rmt-${id}`);
  return signer && { accessKeyId: signer.accessKeyId, secretAccessKey: signer.secretAccessKey };
}

/** Returns the secret for signing keys. The first call creates it atomically. @throws DamagedFileError */
async function tokenSecret(directory: string): Promise<Buffer> {
  const file = join(directory, "signing-secret");
  if (!existsSync(file)) {
    try {
      await createFile(file, checkedSecret(randomBytes(rawSecretBytes).toString("hex")));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  const content = await readFile(file);
  const secret = openSecret(content.toString("latin1"));
  if (secret !== undefined) return Buffer.from(secret, "hex");
  const remedy = "Remove it and make new tokens: their signing keys depend on it";
  throw new DamagedFileError(file, "it does not hold a secret with its check value", remedy);
}

function tokenDirectory(data: string): string {
  return join(data, "tokens");
}

function isRecord(value: unknown): value is TokenRecord {
  const record = (value ?? {}) as Partial<Record<keyof TokenRecord, unknown>>;
  return (
    (["id", "team", "actor", "sha256", "createdAt", "expiresAt"] as const).every(
      (name) => typeof record[name] === "string",
    ) && Array.isArray(record.scopes)
  );
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}
