import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { inflateSync } from "node:zlib";
import { RecordBatchStreamWriter, Table, tableFromArrays, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { decodeLz4Frame } from "../../../adapters/duckdb/formats/arrow/lz4";
import { writeArrowTable } from "../../../adapters/duckdb/formats/arrow/table";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { InvalidInputError, RingmasterError } from "../../../core/errors";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "arrow-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));

/**
 * Written by PyArrow 26: `write_feather` with LZ4 in two batches of x = i % 4, colour = red or green, y = i % 2, for i below
 * 64.
 */
const compressed = inflateSync(
  Buffer.from(
    "eNrtVTFLw1AQ/l6Spg8JNNQOEYoGC6KTOAhupuDgIoYuulmwxQ5ipSDoVsTB0Z/h4A8QJ3+So5vevdxrk1jr5qIH13t37+67d3d5r+1O5/BoC/ggggJCMC0ggI8KNK2IlAePxB35sHSJn4j3iFm/5Fgoh2MbYjNhxDfsa/ahNBg/IlQfVcoQkneWT1Uaghfn4n3i0+H58GoEitFmh38DsB4QV43OAFlcdk7GtTlYkxwuy6h0vmvyY1/fWBzTh2epAyZXJJ0IDBocz2DsY0r5s4UmpknSm8QcEzcF08nF2fO6+J5aItdFruT2VAkP0huDvXoQdZNbUseQFBqFMxf8SB2P+r2zUb9/Yezch/d5fXA9U9NDIXex7vtc3fGMuv05dW+L3CnZrb4hclDaH5T6ZouPS34/6aa50/4s03KJbK233Rrqicai1vAc1GK8pNzORMLGxb7WaZlmXzhqGiepxbWUfJkXNukqYS1VUDnn/3n8zjzib+bhz5gHJve9YV4RftEC6WhPZuvJHY2cYh12To/ubLs1hWJ/FVv+3fkL73GXjG3zH/UJsyNrXA==",
    "base64",
  ),
);

const schema = parseDatasetSchema(`
columns: [{name: x, type: float}, {name: colour, type: string}, {name: y, type: int, role: label}]
`);
const rows = Array.from({ length: 64 }, (_, i) => ({ x: i % 4, colour: ["red", "green"][i % 2]!, y: i % 2 }));

async function push(name: string, content: string | Uint8Array): Promise<string | RingmasterError> {
  const file = path.join(folder, name);
  fs.writeFileSync(file, content);
  return withDuckDb(async (session) => {
    try {
      return (await createSnapshot(session, { name: "toy", file, schema })).draft.digest;
    } catch (error) {
      if (error instanceof RingmasterError) return error;
      throw error;
    }
  });
}
const messageOf = async (name: string, content: string | Uint8Array): Promise<string> => {
  const result = await push(name, content);
  return typeof result === "string" ? "accepted" : `${result.httpStatus} ${result.message}`;
};
const csv = `x,colour,y\n${rows.map(({ x, colour, y }) => `${x},${colour},${y}`).join("\n")}\n`;

/** A stream of batches, as JavaScript writes it. */
function streamOf(...batches: readonly (readonly (typeof rows)[number][])[]): Uint8Array {
  const writer = new RecordBatchStreamWriter();
  for (const some of batches) {
    const table = new Table({
      x: vectorFromArray(some.map(({ x }) => x)),
      colour: vectorFromArray(
        some.map(({ colour }) => colour),
        new Utf8(),
      ),
      y: vectorFromArray(Int8Array.from(some, ({ y }) => y)),
    });
    for (const batch of table.batches) writer.write(batch);
  }
  writer.finish();
  return writer.toUint8Array(true);
}

it("gives the same version from a file with dictionaries and LZ4, a stream and CSV", async () => {
  const digest = await push("rows.csv", csv);
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(await push("lz4.feather", compressed)).toBe(digest);
  expect(await push("stream.arrows", streamOf(rows.slice(0, 20), rows.slice(20, 21), rows.slice(21)))).toBe(digest);
});

it("reads a file of JavaScript, whose schema is in its footer alone", async () => {
  const table = new Table({
    x: vectorFromArray(rows.map(({ x }) => x)),
    colour: vectorFromArray(rows.map(({ colour }) => colour)),
    y: vectorFromArray(rows.map(({ y }) => y)),
  });
  expect(String(table.schema.fields[1]?.type)).toMatch(/^Dictionary/);
  expect(await push("javascript.arrow", tableToIPC(table, "file"))).toBe(await push("rows.csv", csv));
});

it("reads each file of several once, in the order of their names", async () => {
  const first = path.join(folder, "part-1.arrows");
  const second = path.join(folder, "part-2.arrows");
  fs.writeFileSync(first, streamOf(rows.slice(0, 30)));
  fs.writeFileSync(second, streamOf(rows.slice(30)));
  const { draft } = await withDuckDb((session) =>
    createSnapshot(session, { name: "toy", file: [second, first], schema }),
  );
  expect(draft.digest).toBe(await push("rows.csv", csv));
});

it("suggests a schema", async () => {
  fs.writeFileSync(path.join(folder, "infer.feather"), compressed);
  const { columns } = await withDuckDb((session) => inferSchema(session, path.join(folder, "infer.feather"), "y"));
  expect(columns).toMatchObject([
    { name: "x", type: "int" },
    { name: "colour", type: "string" },
    { name: "y", type: "int", role: "label" },
  ]);
});

it("reports values that break the schema, and columns of types that no schema has", async () => {
  const wrong = rows.map((row, i) => (i === 40 ? { ...row, y: null } : row)) as unknown as typeof rows;
  const table = (y: readonly (number | null)[]) =>
    tableToIPC(
      new Table({
        x: vectorFromArray(rows.map(({ x }) => x)),
        colour: vectorFromArray(
          rows.map(({ colour }) => colour),
          new Utf8(),
        ),
        y: vectorFromArray(y),
      }),
      "file",
    );
  expect(await messageOf("null.arrow", table(wrong.map(({ y }) => y)))).toMatch(/400 .*column y, row 41: /);
  const nested = tableToIPC(
    new Table({
      x: vectorFromArray([{ a: 1 }]),
      colour: vectorFromArray(["red"], new Utf8()),
      y: vectorFromArray([1]),
    }),
  );
  expect(await messageOf("nested.arrows", nested)).toMatch(/400 .*column x, row 1: /);
  expect(await messageOf("absent.arrows", tableToIPC(tableFromArrays({ x: [1] })))).toMatch(
    /columns.colour must be in the file/,
  );
});

it.each<[string, string | Uint8Array, RegExp]>([
  [
    "a file that is cut",
    compressed.subarray(0, 1_200),
    /400 .*cut.arrow cannot be read: .*is cut; copy or write the file again/,
  ],
  ["a stream that is cut between batches", streamOf(rows).subarray(0, -8), /has no end-of-stream mark: it is cut/],
  ["a stream that is cut in a batch", streamOf(rows, rows).subarray(0, -200), /batch 2 must be readable, .*it is cut/],
  ["text", csv.repeat(40), /400 .*it is no Arrow file or stream/],
  ["a schema without columns", tableToIPC(new Table({})), /must have columns, and has none/],
])("reports %s", async (_what, content, message) => {
  expect(await messageOf("cut.arrow", content)).toMatch(message);
});

it("reports any damage as such, or reads the file", async () => {
  const file = path.join(folder, "damaged.feather");
  await withDuckDb(async (session) => {
    let refused = 0;
    for (let at = 8; at < compressed.length - 8; at += 61) {
      const damaged = Buffer.from(compressed);
      damaged[at] = damaged[at]! ^ 0xff;
      fs.writeFileSync(file, damaged);
      const error = await writeArrowTable(session, file, `damaged_${at}`).catch((reason: unknown) => reason);
      if (error instanceof Error) expect(error).toBeInstanceOf(InvalidInputError);
      if (error instanceof Error) refused += 1;
    }
    expect(refused).toBeGreaterThan(5);
  });
});

describe("an LZ4 frame", () => {
  /** A frame behind the decoded size, as Arrow stores it. */
  const decode = (size: number, ...block: readonly number[]): string => {
    const bytes = Buffer.alloc(8 + 7 + 4 + block.length + 4);
    bytes.writeBigInt64LE(BigInt(size));
    bytes.writeUInt32LE(0x184d2204, 8);
    bytes.writeUInt8(0x60, 12);
    bytes.writeUInt32LE(block.length, 15);
    bytes.set(block, 19);
    return Buffer.from(decodeLz4Frame(bytes.subarray(8))).toString("latin1");
  };
  const [a, b] = [97, 98];

  it("repeats bytes before it, also those that it has just written", () => {
    // Three literals; a match of 4 + 2 bytes, 2 back; two literals.
    expect(decode(11, 0x32, a, b, a, 2, 0, 0x20, b, b)).toBe("ababababab".slice(0, 9).concat("bb"));
    // 15 + 3 literals.
    expect(decode(18, 0xf0, 3, ...Array(18).fill(a))).toBe("a".repeat(18));
  });

  it.each<[string, number, readonly number[]]>([
    ["a distance before the beginning", 11, [0x32, a, b, a, 4, 0, 0x20, b, b]],
    ["more bytes than announced", 8, [0x32, a, b, a, 2, 0, 0x20, b, b]],
    ["fewer bytes than announced", 12, [0x32, a, b, a, 2, 0, 0x20, b, b]],
    ["literals behind its end", 11, [0x40, a, b, a]],
    ["no distance", 11, [0x32, a, b, a, 2]],
    ["no length", 18, [0xf0]],
  ])("refuses %s", (_what, size, block) => {
    expect(() => decode(size, ...block)).toThrow(/LZ4/);
  });
});
