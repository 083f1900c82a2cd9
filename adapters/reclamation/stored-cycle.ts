import { randomUUID } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { CorruptObjectError } from "../../core/object-documents";
import { teamsPrefix } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import type { CycleState, ReclamationMemory, SavedCycle } from "../../core/reclamation/ports";
import { catalog, eraseObjects, objects } from "../../platform/permissions/grants";
import { absent, catalogTable, ex, type Table } from "../dynamodb/table";
import { sharedPort } from "../port";
import { createObjectStore, s3Client } from "../s3/object-store";

/** Not a team's prefix, because no team's name starts with a dot. */
export const reclamationPrefix = `${teamsPrefix}.reclamation/`;

export const reclamationRow = (name: "cycle" | "dry-run") => ({ pk: "RECLAMATION", sk: name });

const maps = ["known", "used"] as const;
const sets = ["before", "now"] as const;

/**
 * Keeps a cycle in a row, and its sets in an object that the row names. The row changes only if nobody has changed it
 * since it was read.
 *
 * @param name `dry-run` for cycles that delete nothing
 */
export function createReclamationMemory(
  table: Table,
  store: ObjectStore,
  name: "cycle" | "dry-run",
): ReclamationMemory {
  const key = reclamationRow(name);
  let blob: string | undefined;

  return {
    async load() {
      const row = await table.get(key);
      if (row === undefined) return undefined;
      blob = String(row["blob"]);
      return decode(blob, row["state"] as CycleState, await store.get(blob));
    },

    async save(saved) {
      const { state } = saved;
      const next = `${name}/${state.revision}-${randomUUID()}`;
      await store.put(next, encode(saved));
      const condition = state.revision === 1 ? absent : ex`revision = ${state.revision - 1}`;
      const won = await table.put({ ...key, revision: state.revision, state, blob: next }, condition);
      const unused = won ? blob : next;
      if (won) blob = next;
      if (unused !== undefined) await store.erase(unused);
      return won;
    },
  };
}

/** Layout: the length of the head as a big-endian uint32, the head (the parts' lengths as JSON), the parts. */
function encode(saved: SavedCycle): Uint8Array {
  const lines = [
    ...maps.map((name) => [...saved[name]].map((entry) => entry.join(" "))),
    ...sets.map((name) => [...saved[name]]),
  ];
  const parts = [Buffer.from(saved.marks), ...lines.map((each) => gzipSync(each.join("\n"), { level: 1 }))];
  const head = Buffer.from(JSON.stringify(parts.map(({ length }) => length)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, ...parts]);
}

function decode(key: string, state: CycleState, body: Uint8Array): SavedCycle {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  try {
    let at = 4 + bytes.readUInt32BE(0);
    const lengths = JSON.parse(bytes.toString("utf8", 4, at)) as readonly number[];
    const [marks, ...rest] = lengths.map((length) => {
      at += length;
      return bytes.subarray(at - length, at);
    });
    const [known, used, before, now] = rest.map((part) => {
      const text = gunzipSync(part).toString("utf8");
      return text === "" ? [] : text.split("\n");
    });
    if (!marks || !known || !used || !before || !now) throw new RangeError("parts are missing");
    const mapOf = (lines: readonly string[]) => new Map(lines.map((line) => line.split(" ") as [string, string]));
    return {
      state,
      marks: new Uint8Array(marks),
      ...{ known: mapOf(known), used: mapOf(used), before: new Set(before), now: new Set(now) },
    };
  } catch (error) {
    throw new CorruptObjectError(key, "the state of a reclamation", String(error), error);
  }
}

/** The memory of cycles, and that of cycles that delete nothing. */
export const reclamationMemory = sharedPort({
  uses: { table: catalogTable(), s3: s3Client() },
  grants: { keep: [catalog("GetItem", "PutItem"), objects("GetObject", "PutObject"), eraseObjects] },
  make: ({ table, s3 }, { config }) => {
    const store = createObjectStore(s3, config.bucket, reclamationPrefix);
    return (name: "cycle" | "dry-run") => createReclamationMemory(table, store, name);
  },
});
