import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ownerKeys } from "../../adapters/files/owner-keys";
import { sealDocument } from "../../adapters/files/sealed-document";
import { createTokenStore } from "../../adapters/files/token-store";
import { readStackFile } from "../../cli/stack-file";
import { makeToken, tokenIdOf } from "../../core/access/tokens";
import { checkLayout, keepLayout } from "../../local/layout";
import { Database } from "../../local/storage/database";
import { Journal } from "../../local/storage/journal";
import { journalsOf, storesOf } from "../../local/storage/stores";
import { Observation, type Subject } from "./subject";

const rows = 60;
const lastPid = 4002;

/** Opens every database of a stack like its service: most hold JSON by text, `dynamodb` text by bytes. */
export function databaseSubjects(): readonly Subject[] {
  return storesOf("/").map(({ store }) => ({
    name: `database ${store}`,
    owns: () => true,
    // If a file that names others is damaged, the error names the missing file in the same directory.
    namesOf: (file) => [path.dirname(file)],
    async build(directory, round) {
      await withDatabase(directory, store, async (database) => {
        for (let i = 0; i < rows; i += 1) {
          if (round === 2 && i % 3 === 0) continue;
          await database.write([
            { key: keyOf(store, i), value: round === 2 && i % 7 === 0 ? undefined : `"${round}/${i}"` },
          ]);
        }
      });
    },
    async observe(directory) {
      const seen = new Observation();
      try {
        await withDatabase(directory, store, async (database) => {
          for (const [key, value] of await database.entries({})) seen.values.set(key.toString(), value);
        });
      } catch (error) {
        seen.fail(error);
      }
      return seen;
    },
  }));
}

type AnyDatabase = Pick<Database<Buffer | string>, "write" | "entries">;

async function withDatabase(data: string, name: string, use: (database: AnyDatabase) => Promise<void>): Promise<void> {
  const location = storesOf(data).find(({ store }) => store === name)!;
  mkdirSync(location.directory, { recursive: true });
  const encoding = name === "dynamodb" ? "buffer" : "utf8";
  const database = new Database<Buffer | string>(location, encoding as never);
  await database.open();
  try {
    await use(database);
  } finally {
    await database.close();
  }
}

const keyOf = (store: string, index: number): Buffer | string =>
  store === "dynamodb" ? Buffer.from(`row ${index}`) : `row ${index}`;

export function journalSubject(): Subject {
  const locations = (data: string) => journalsOf(data);
  return {
    name: "journals",
    owns: () => true,
    async build(directory, round) {
      for (const location of locations(directory)) {
        mkdirSync(path.dirname(location.path), { recursive: true });
        const journal = new Journal<string>(location);
        journal.append(Array.from({ length: 20 }, (_, i) => `${path.basename(location.path)} ${round} ${i}`));
        if (round === 2) journal.routed(0);
        journal.close();
      }
    },
    async observe(directory) {
      const seen = new Observation();
      for (const location of locations(directory)) {
        await seen.read(path.basename(location.path), () => {
          const journal = new Journal<string>(location);
          const left = journal.recover().join();
          journal.close();
          return left;
        });
      }
      return seen;
    },
  };
}

/** Damages small files at the top of a data directory. */
export function fileSubjects(): readonly Subject[] {
  const token = (n: number) =>
    makeToken(
      { team: "red", actor: `user ${n}`, createdAt: new Date(n).toISOString() },
      Uint8Array.from({ length: 38 }, (_, i) => n + i),
    );
  return [
    {
      name: "tokens",
      owns: (file) => file.startsWith("tokens/"),
      async build(directory, round) {
        const store = createTokenStore(directory);
        await store.add(token(round).record);
        await store.signer(`rmt-${tokenIdOf(token(1).token)}`);
      },
      async observe(directory) {
        const seen = new Observation();
        const store = createTokenStore(directory);
        // A lost secret is created again: signatures with the earlier keys are refused.
        if (!existsSync(path.join(directory, "tokens", "signing-secret"))) {
          seen.fail(new Error("signatures are refused: signing-secret is not the one that made their keys"));
          return seen;
        }
        for (const n of [1, 2]) {
          const { token: text, record } = token(n);
          // Removing its file revokes a token. Its owner is then refused in any case.
          await seen.read(record.id, async () => {
            const found = await store.verify(text);
            if (!found) throw new Error(`the token ${record.id} is refused`);
            const listed = (await store.list()).some(({ id }) => id === record.id);
            return JSON.stringify([found, listed, (await store.signer(`rmt-${record.id}`))?.secretAccessKey]);
          });
        }
        return seen;
      },
    },
    {
      name: "secret",
      owns: (file) => file === "iam/secret",
      async build(directory) {
        ownerKeys(directory);
      },
      async observe(directory) {
        const seen = new Observation();
        const missing = !existsSync(path.join(directory, "iam", "secret"));
        // A lost secret is created again: every issued key is then refused.
        await seen.read("secret", () => {
          if (missing) throw new Error("keys of the lost secret are refused");
          return JSON.stringify(ownerKeys(directory));
        });
        return seen;
      },
    },
    {
      name: "stack file",
      owns: (file) => file === "stack.json",
      async build(directory, round) {
        const stack = {
          pid: lastPid - 2 + round,
          endpoint: "http://127.0.0.1:4566",
          api: `http://127.0.0.1:${4700 + round}`,
        };
        writeFileSync(path.join(directory, "stack.json"), sealDocument(stack));
      },
      async observe(directory) {
        const seen = new Observation();
        // A stopped stack leaves no file.
        await seen.read("stack.json", () => {
          const stack = readStackFile(directory);
          if (!stack) throw new Error("no stack.json: no stack is running");
          // Every command calls the stack that the file names. The ports of an earlier one do not answer.
          if (stack.pid !== lastPid) throw new Error("the stack that stack.json names does not answer");
          return JSON.stringify(stack);
        });
        return seen;
      },
    },
    {
      name: "layout",
      owns: (file) => file === "layout.json",
      async build(directory) {
        mkdirSync(path.join(directory, "s3"), { recursive: true });
        keepLayout(directory);
      },
      async observe(directory) {
        const seen = new Observation();
        await seen.read("layout", () => {
          checkLayout(directory);
          return "known";
        });
        return seen;
      },
    },
  ];
}
