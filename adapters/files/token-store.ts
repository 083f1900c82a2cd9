import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, statSync } from "node:fs";
import { link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TokenRecord, tokenIdOf, tokenMatches } from "../../core/access/tokens";

/** Tokens of a stack's API, a file each: made and revoked without a lock, and in force at once. Where the folder is, a token is asked for. */
export interface TokenStore {
  /** Whether callers need a token. */
  required(): Promise<boolean>;
  /** Whose token this is; `undefined` where it is nobody's. */
  verify(token: string): Promise<TokenRecord | undefined>;
  /** Whose access key that is, with what its signatures are made of; `undefined` where it is nobody's. */
  signer(accessKeyId: string): Promise<Signer | undefined>;
  add(record: TokenRecord): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly TokenRecord[]>;
  /** False where there is none. */
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

/** @param data the stack's data directory. */
export function createTokenStore(data: string): TokenStore {
  const directory = tokenDirectory(data);
  const fileOf = (id: string): string => join(directory, `${id}.json`);

  /** A file that was torn as it was written is no token: nobody has been told of it. */
  async function read(id: string): Promise<TokenRecord | undefined> {
    try {
      const record: unknown = JSON.parse(await readFile(fileOf(id), "utf8"));
      return isRecord(record) && record.id === id ? record : undefined;
    } catch (error) {
      if (error instanceof SyntaxError || isAbsent(error)) return undefined;
      throw error;
    }
  }

  return {
    async required() {
      // Asked with each request. Not waiting takes a tenth of the time that waiting for a thread does.
      return statSync(directory, { throwIfNoEntry: false }) !== undefined;
    },

    async verify(token) {
      const id = tokenIdOf(token);
      const record = id === undefined ? undefined : await read(id);
      return record && tokenMatches(token, record) ? record : undefined;
    },

    async signer(accessKeyId) {
      const id = accessKeyPattern.exec(accessKeyId)?.[1];
      const record = id === undefined ? undefined : await read(id);
      if (!record) return undefined;
      // A signature is checked by making it: the key must be had in the clear. It is made of the record and a secret beside the tokens, and is nowhere itself.
      const secretAccessKey = createHmac("sha256", await sealingSecret(directory))
        .update(`execute-api ${record.id} ${record.sha256}`)
        .digest("base64url");
      return { accessKeyId, secretAccessKey, record };
    },

    async add(record) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeFile(fileOf(record.id), JSON.stringify(record, null, 2), { flag: "wx", mode: 0o600 });
    },

    async list() {
      const names = await readdir(directory).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      });
      const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
      const records = await Promise.all(ids.map(read));
      return records
        .filter((record) => record !== undefined)
        .sort((a, b) => (a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id) ? -1 : 1));
    },

    async revoke(id) {
      if (!idPattern.test(id) || !(await read(id))) return false;
      await rm(fileOf(id), { force: true });
      return true;
    },
  };
}

/** From now on callers need a token, whether or not there is one yet. */
export function requireTokens(data: string): void {
  mkdirSync(tokenDirectory(data), { recursive: true, mode: 0o700 });
}

/** The keys that a token signs with. */
export async function signingKeys(store: TokenStore, id: string): Promise<SigningKeys | undefined> {
  const signer = await store.signer(`rmt-${id}`);
  return signer && { accessKeyId: signer.accessKeyId, secretAccessKey: signer.secretAccessKey };
}

/** Made once, whole or not at all, whoever asks first. */
async function sealingSecret(directory: string): Promise<Buffer> {
  const file = join(directory, "signing-secret");
  const unfinished = join(directory, `signing-secret.${randomUUID()}`);
  const found = await readFile(file).catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
  if (found) return found;
  await writeFile(unfinished, randomBytes(32), { mode: 0o600 });
  try {
    await link(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
  return readFile(file);
}

function tokenDirectory(data: string): string {
  return join(data, "tokens");
}

function isRecord(value: unknown): value is TokenRecord {
  const record = (value ?? {}) as Partial<Record<keyof TokenRecord, unknown>>;
  return (["id", "team", "actor", "sha256", "createdAt"] as const).every((name) => typeof record[name] === "string");
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}
