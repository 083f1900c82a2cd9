import type { KeyAttribute } from "../expression/key-condition";
import { buckets, decodeScalar, kind } from "./key-codec";
import type { TableDefinition } from "./table";

const headBytes = 1 + 4;
const bucketBytes = Math.ceil(Math.log2(buckets) / 8);

/** Describes a storage key as far as possible: `item {"pk":{"S":"a"}} of table orders`. */
export function describeKey(key: Buffer, tables: readonly TableDefinition[]): string {
  const keyKind = key.toString("latin1", 0, 1);
  if (keyKind === kind.table)
    return key.length > 1 ? `the definition of table ${key.toString("utf8", 1)}` : "the last table id";
  if (keyKind === kind.token || keyKind === kind.forget) return "the token of a transaction";
  if (key.length < headBytes) return `the record ${JSON.stringify(key.toString("latin1"))}`;
  if (keyKind === kind.removed) return "the removal of an index that is under way";
  const id = key.readUInt32BE(1);
  const table = tables.find((one) => one.id === id);
  const name = table ? `table ${table.name}` : `a table whose definition is missing (id ${id})`;
  if (keyKind === kind.expiry) return `an expiry time of ${name}`;
  if (keyKind === kind.item)
    return `item ${table ? keyText(key.subarray(headBytes + bucketBytes), table) : hex(key)} of ${name}`;
  if (keyKind !== kind.index || key.length < headBytes + 4) return `the record ${hex(key)}`;
  const index = table?.indexes.find((one) => one.id === key.readUInt32BE(headBytes));
  return `an entry of ${index ? `index ${index.name}` : "an index"} of ${name}`;
}

function keyText(encoded: Buffer, table: TableDefinition): string {
  const parts: readonly KeyAttribute[] = table.key.range ? [table.key.hash, table.key.range] : [table.key.hash];
  let rest = encoded;
  const key: Record<string, unknown> = {};
  try {
    for (const { name, type } of parts) {
      const { value, length } = decodeScalar(rest, type);
      key[name] = value;
      rest = rest.subarray(length);
    }
  } catch {
    return hex(encoded);
  }
  return JSON.stringify(key);
}

function hex(key: Buffer): string {
  return `0x${key.toString("hex")}`;
}
