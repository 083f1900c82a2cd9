import { mkdirSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TokenRecord, tokenIdOf, tokenMatches } from "../../core/access/tokens";

/** Tokens of a stack's API, a file each: made and revoked without a lock, and in force at once. Where the folder is, a token is asked for. */
export interface TokenStore {
  /** Whether callers need a token. */
  required(): Promise<boolean>;
  /** Whose token this is; `undefined` where it is nobody's. */
  verify(token: string): Promise<TokenRecord | undefined>;
  add(record: TokenRecord): Promise<void>;
  /** Oldest first. */
  list(): Promise<readonly TokenRecord[]>;
  /** False where there is none. */
  revoke(id: string): Promise<boolean>;
}

const idPattern = /^[0-9a-f]{12}$/;

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
      return stat(directory).then(
        () => true,
        (error: unknown) => {
          if (isAbsent(error)) return false;
          throw error;
        },
      );
    },

    async verify(token) {
      const id = tokenIdOf(token);
      const record = id === undefined ? undefined : await read(id);
      return record && tokenMatches(token, record) ? record : undefined;
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
      const records = await Promise.all(names.map((name) => read(name.replace(/\.json$/, ""))));
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
