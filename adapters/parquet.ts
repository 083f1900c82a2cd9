import type { ColumnSource, SchemaElement } from "hyparquet-writer";
import type { Cell, ColumnBlock, ColumnType, ExportColumn } from "../core/tables";

const types: Readonly<Record<ColumnType, Pick<SchemaElement, "type" | "converted_type">>> = {
  string: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  int: { type: "INT64" },
  double: { type: "DOUBLE" },
  timestamp: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
};

/** Formats blocks as a Parquet file: a row group for each block, compressed by Snappy. */
export async function* parquetOf(
  columns: readonly ExportColumn[],
  blocks: AsyncIterable<ColumnBlock>,
): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const bytes = new ByteWriter();
  const take = (): Uint8Array => {
    const written = bytes.getBytes().slice();
    bytes.index = 0;
    return written;
  };
  const schema: SchemaElement[] = [
    { name: "root", num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, repetition_type: "OPTIONAL" as const, ...types[type] })),
  ];
  const writer = new ParquetWriter({ writer: bytes, schema });
  for await (const block of blocks) {
    const columnData = columns.map(
      ({ name, type }, i): ColumnSource => ({ name, data: (block[i] ?? []).map((cell) => parquetValue(cell, type)) }),
    );
    await writer.write({ columnData, rowGroupSize: block[0]?.length ?? 1 });
    yield take();
  }
  await writer.finish();
  yield take();
}

function parquetValue(cell: Cell, type: ColumnType): unknown {
  if (cell === undefined) return null;
  if (type === "timestamp") return new Date(cell);
  return type === "int" ? BigInt(cell) : cell;
}
