import * as fs from "node:fs";
import * as path from "node:path";
import { inflateSync } from "node:zlib";
import {
  type DataType,
  Field,
  FixedSizeList,
  Float64,
  List,
  Null,
  RecordBatchStreamWriter,
  Table,
  TimestampMillisecond,
  tableFromArrays,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { decodeLz4Frame, decodeZstdFrame, writeArrowTable } from "../../../adapters/duckdb/formats/arrow/table";
import { inferSchema } from "../../../adapters/duckdb/infer-schema";
import { createSnapshot } from "../../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { InvalidInputError, RingmasterError } from "../../../core/errors";
import { temporaryFolder } from "../../support/temporary-folder";

const folder = temporaryFolder("arrow");

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

/** The same rows by PyArrow 25 (two batches, a dictionary) and by polars 2.1, with ZSTD. */
const zstandard = {
  pyarrow: inflateSync(
    Buffer.from(
      "eNrlVb1OG0EQ/vbufJzwJVjCEhtBkIsUJhRAj8RZQJUikgugiXQIrDRRsCxFCnUoKJDwI0BHQUtvCQnR8AaUPAAvgMjM7pzZO7BN0jLW3Hhm52/n271rNJtfN5eARyIooAKmccQIUUJE/4hUgIDEAfmw9InPideIWW9zLJTHsVWxmTDiffY161AROL+mrCHGqEKFvG09VapKvpoTHxLv7P3Y+9UBxURmhZ8xWI+Jx4zOCWyc7ZPzZjVYkxo+S13o7zf5sW9oLJ6ZQ0/2AVNLyyRikw1eYHIkeCK3t4qJmSUZ9GNS4k9S24NLodlDKO34GEwfRdZEfnDW1LO8dkZM9YuFh1q8bRXfNCs9O+tRA+i0dr93Wq2fYs/Ow8A5+AFmSJzlaub33XX2XR+y73DIvudFLhbsmd4UeVhYP3xhTv6zPkbriXqaU5rgxiB/v0LPKMTE6hwmNm5L3p/tNsrG78Sd68k7D3eeheh1P2CyCl/vHC1d2ceU1E/cvMk6HzSl8KWz9Y94dV+Jl/5PvD6PwGtZZLuw3h6Aly74jdJ77px6ebiOT+vw5vcbl5ie6cmFSV3/9JvC/TC4gHIfHouMduN1hsvc+7KLS/+9UDWT5DefvZ8BdgXbQO6wlr4iwT27X9d+3t4t3P+K2K+RPy94I+/tlIwN8y37C35Xfdk=",
      "base64",
    ),
  ),
  polars: inflateSync(
    Buffer.from(
      "eNrVU7FKA0EQfZs7w6mLnvGQFCkULGJjFC1SJmhhJwTEVjCHjRgICFoIdjYWFn6CjfaWwlX+gaViYxcbsRBRzrd7c3pGLr1zzO7Om3kzs8xes9Va31wEXAAvcRwHMGfFdQSj8Li6eCOuiXj8jNfh2qYuI+Gd0z/N3bcxgCrAyinxhrFFD6kRsUo2tpzEfhB3ma3I83Znt7PfBXrE6rRN7rLk9VFilI8Jy9aW+5qp42GYfs+eD6h0xZ5K+jT5oqQcArmJxqTNqWk9SB4jF1RTuyq1ExlDhXGajICowo+8k6vY/ZDcIU/mZG/04aldk/24z5/aMxnMGZAnz4bMpnpd+9yCurERiqjD1u9WLrGmF4rOOGefI26W7zwDZ6aNbtgmH9jphuEec92fXEGvYv4v/3f9IztdRcbT0gZmbzGFwWLmmbbRk3nVv+dpXkSJ0zEvQNv5PArPl2FFffn+79sucGvav/cLRKp+rw==",
      "base64",
    ),
  ),
};

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

function withoutFooterSize(file: Uint8Array): Uint8Array {
  return Uint8Array.from(file).fill(0, file.length - 10, file.length - 6);
}

it("gives the same version from files with dictionaries, LZ4 and ZSTD, a stream and CSV", async () => {
  const digest = await push("rows.csv", csv);
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(await push("lz4.feather", compressed)).toBe(digest);
  expect(await push("zstd.feather", zstandard.pyarrow)).toBe(digest);
  expect(await push("zstd.arrow", zstandard.polars)).toBe(digest);
  expect(await push("stream.arrows", streamOf(rows.slice(0, 20), rows.slice(20, 21), rows.slice(21)))).toBe(digest);
});

it("has a footer that names places in it", async () => {
  const file = Buffer.from(tableToIPC(new Table({ x: vectorFromArray([1]) }), "file"));
  const footer = file.subarray(file.length - 10 - file.readInt32LE(file.length - 10));
  const block = footer.indexOf(Buffer.from(BigInt64Array.of(8n).buffer));
  footer.writeBigInt64LE(1n << 40n, block);
  expect(await messageOf("outside.arrow", file)).toMatch(/: footer must be readable, .*names a place outside of it/);
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

it("gives a column without a value the type that it has in other files", async () => {
  const some = [1, 2, 3].map((x) => ({ x: x / 2, at: new Date(Date.UTC(2026, 0, x)), y: x % 2 }));
  const none = some.map(({ y }) => ({ x: null, at: null, y }));
  const write = (name: string, data: readonly (typeof some | typeof none)[number][]): string => {
    const hasValues = data[0]?.x !== null;
    const vectors = {
      x: vectorFromArray(
        data.map(({ x }) => x),
        hasValues ? new Float64() : new Null(),
      ),
      at: vectorFromArray(
        data.map(({ at }) => at),
        hasValues ? new TimestampMillisecond() : new Null(),
      ),
      y: vectorFromArray(data.map(({ y }) => y)),
    };
    const file = path.join(folder, name);
    fs.writeFileSync(file, tableToIPC(new Table(vectors)));
    return file;
  };
  const files = [write("none-1.arrows", none), write("none-2.arrows", some), write("none-3.arrows", none)];
  const { columns } = await withDuckDb((session) => inferSchema(session, files, "y"));
  expect(columns).toMatchObject([
    { name: "x", type: "float", nullable: true },
    { name: "at", type: "timestamp", nullable: true },
    { name: "y", type: "int", role: "label" },
  ]);
  const nullable = parseDatasetSchema(
    JSON.stringify({ columns, split: { fractions: { train: 0.5, validation: 0, test: 0.5 } } }),
  );
  const digestOf = (file: string | string[]) =>
    withDuckDb(
      async (session) => (await createSnapshot(session, { name: "toy", file, schema: nullable })).draft.digest,
    );
  const rowOf = ({ x, at, y }: (typeof some | typeof none)[number]) => `${x ?? ""},${at?.toISOString() ?? ""},${y}`;
  const text = path.join(folder, "none.csv");
  fs.writeFileSync(text, `x,at,y\n${[...none, ...some, ...none].map(rowOf).join("\n")}\n`);
  expect(await digestOf(files)).toBe(await digestOf(text));
  expect(await digestOf([files[0]!, files[2]!])).toEqual(expect.any(String));
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

it("infers the shape of nested lists, and refuses an absent list within one", async () => {
  const field = (type: DataType) => new Field("item", type);
  const inner = new List(field(new Float64()));
  for (const type of [
    new List(field(inner)),
    new FixedSizeList(2, field(new FixedSizeList(2, field(new Float64())))),
  ]) {
    const write = (lists: readonly unknown[]): string => {
      const file = path.join(folder, "lists.arrow");
      const table = new Table({ m: vectorFromArray(lists, type), y: vectorFromArray(lists.map((_, i) => i % 2)) });
      fs.writeFileSync(file, tableToIPC(table, "file"));
      return file;
    };
    const lists = Array.from({ length: 40 }, (_, i) => [
      [i, 1],
      [2, 3],
    ]);
    const file = write(lists);
    const { columns } = await withDuckDb((session) => inferSchema(session, file, "y"));
    expect(columns[0]).toEqual({ name: "m", type: "tensor", shape: [2, 2], role: "feature" });
    const schema = parseDatasetSchema(JSON.stringify({ columns }));
    const snapshot = (lists: readonly unknown[]) =>
      withDuckDb((session) => createSnapshot(session, { name: "toy", file: write(lists), schema }));
    expect((await snapshot(lists)).draft.rowCount).toBe(40);
    await expect(snapshot([...lists, [[1, 2], null]])).rejects.toThrow(/column m, row 41: /);
    await expect(
      snapshot([
        ...lists,
        [
          [1, 2],
          [3, null],
        ],
      ]),
    ).rejects.toThrow(/column m, row 41: /);
    await expect(snapshot([...lists, null])).rejects.toThrow(/column m, row 41: /);
  }
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

/** A stream of PyArrow with a list view `x` and a number `y`, and one of polars with an integer of 128 bits. */
const listView = [
  "/////9gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAAA8AAAABAAAAKD///8AAAECEAAAABwAAAAE",
  "AAAAAAAAAAEAAAB5AAAACAAMAAgABwAIAAAAAAAAAQgAAADU////AAABGRQAAAAcAAAABAAAAAEAAAAkAAAAAQAAAHgAAAAEAAQABAAAABAA",
  "FAAIAAYABwAMAAAAEAAQAAAAAAABAxAAAAAcAAAABAAAAAAAAAAEAAAAaXRlbQAABgAIAAYABgAAAAAAAgD/////+AAAABQAAAAAAAAADAAW",
  "AAYABQAIAAwADAAAAAADBAAYAAAAIAAAAAAAAAAAAAoAGAAMAAQACAAKAAAAjAAAABAAAAABAAAAAAAAAAAAAAAHAAAAAAAAAAAAAAAAAAAA",
  "AAAAAAAAAAAAAAAABAAAAAAAAAAIAAAAAAAAAAQAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAACAAAAAAAAAAYAAAAAAAAAAAAAAAA",
  "AAAAGAAAAAAAAAABAAAAAAAAAAAAAAADAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "AAABAAAAAAAAAAAAAAAAAPA/AQAAAAAAAAD/////AAAAAA==",
].join("");
const wideInteger = [
  "/////6gAAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAIAAAA0AAAABAAAAMD///8gAAAAEAAAAAgAAAAB",
  "AgAAAAAAALj///9AAAAAAQAAAAEAAAB5AAAA7P///zgAAAAgAAAAGAAAAAECAAAQABIABAAQABEACAAAAAwAAAAAAPT///+AAAAAAQAAAAgA",
  "CQAEAAgAAQAAAHgAAAD/////sAAAAAQAAADs////gAAAAAAAAAAUAAAABAADAAwAEwAQABIADAAEAOr///8BAAAAAAAAAFwAAAAQAAAAAAAK",
  "ABQABAAMABAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAACAAAAAAAAAAAAAAA",
  "AgAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "AAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "AAD/////AAAAAA==",
].join("");

it.each<[string, string | Uint8Array, RegExp]>([
  [
    "a type that is not read",
    Buffer.from(listView, "base64"),
    /: batch 1 must have types that are read, and a column has ListView; cast the column, leave it out, or write Parquet/,
  ],
  [
    "an integer that is not read",
    Buffer.from(wideInteger, "base64"),
    /must have types that are read, and a column has integers of another width; cast the column/,
  ],
  [
    "a file that is cut",
    compressed.subarray(0, 1_200),
    /400 .*cut.arrow cannot be read: end of the file must be readable, .*is cut; copy or write the file again/,
  ],
  [
    "a stream that is cut between batches",
    streamOf(rows).subarray(0, -8),
    /: message after batch 1 must be readable, .*has no end-of-stream mark: it is cut/,
  ],
  ["a stream that is cut in a batch", streamOf(rows, rows).subarray(0, -200), /batch 2 must be readable, .*it is cut/],
  [
    "a file that is cut in its first eight bytes",
    compressed.subarray(0, 5),
    /: schema must be readable, .*it is no Arrow file/,
  ],
  [
    "a stream that is damaged in its schema",
    Buffer.from(streamOf(rows)).fill(0xff, 8, 200),
    /: schema must be readable, and is damaged: /,
  ],
  [
    "a file that is damaged in its footer",
    withoutFooterSize(tableToIPC(new Table({ x: vectorFromArray([1]) }), "file")),
    /: footer must be readable, .*its footer has no size/,
  ],
  ["text", csv.repeat(40), /400 .*: schema must be readable, .*it is no Arrow file or stream/],
  ["a schema without columns", tableToIPC(new Table({})), /must have columns, and has none/],
])("reports %s", async (_what, content, message) => {
  expect(await messageOf("cut.arrow", content)).toMatch(message);
});

it.each([
  ["LZ4", compressed],
  ["ZSTD", zstandard.pyarrow],
])("reports any damage of a file with %s as such, or reads the file", async (_codec, compressed) => {
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

describe("a ZSTD frame", () => {
  /** A frame of one segment with one block, behind the decoded size, as Arrow stores it. */
  const decode = (size: number, header: readonly number[], ...block: readonly number[]): string => {
    const bytes = Buffer.alloc(8 + 4 + header.length + block.length);
    bytes.writeBigInt64LE(BigInt(size));
    bytes.writeUInt32LE(0xfd2fb528, 8);
    bytes.set([...header, ...block], 12);
    return Buffer.from(decodeZstdFrame(bytes.subarray(8))).toString("latin1");
  };
  const [a, b] = [97, 98];
  // The block's header: its size in the upper 21 bits, its kind (0 raw, 1 repeated) and whether it is the last.
  const [raw, repeated] = [
    [(2 << 3) | 1, 0, 0, a, b],
    [(5 << 3) | 3, 0, 0, a],
  ];

  it("has raw or repeated bytes, with or without its size", () => {
    expect(decode(2, [0x20, 2], ...raw)).toBe("ab");
    expect(decode(5, [0x20, 5], ...repeated)).toBe("aaaaa");
    expect(decode(2, [0x00, 0x58], ...raw)).toBe("ab");
  });

  it.each<[string, number, readonly number[], readonly number[]]>([
    ["another size than announced", 3, [0x20, 2], raw],
    ["another size of two bytes", 3, [0x60, 0, 1], raw],
    ["another size of four bytes", 3, [0xa0, 2, 0, 0, 1], raw],
    ["another size of eight bytes", 3, [0xe0, 2, 0, 0, 0, 0, 0, 0, 1], raw],
    ["a dictionary", 2, [0x21, 9, 2], raw],
    ["more bytes than announced", 1, [0x00, 0x58], raw],
    ["a block behind its end", 2, [0x20, 2], raw.slice(0, 4)],
    ["no block", 2, [0x20, 2], [0, 0]],
  ])("is refused for %s", (_what, size, header, block) => {
    expect(() => decode(size, header, ...block)).toThrow(/ZSTD/);
  });
});
