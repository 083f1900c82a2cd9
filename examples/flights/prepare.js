#!/usr/bin/env node
/**
 * Adds a label to the 3,000,000 flights of the npm package `vega-datasets` (US domestic flights, January to June 2001; the Bureau of
 * Transportation Statistics' on-time records):
 *
 *     node examples/flights/prepare.js [flights.parquet] [rows]
 *
 * With `rows`, a sample of so many flights, the same each time.
 *
 * `late`: more than 15 minutes behind time, the Bureau's own definition of delayed. `haul`: short, medium or long, to look at the metrics by.
 */
const fs = require("node:fs");
const path = require("node:path");
const { DuckDBInstance } = require("@duckdb/node-api");

const output = path.resolve(process.argv[2] ?? ".ringmaster/examples/flights.parquet");
const wanted = Number(process.argv[3] ?? Number.POSITIVE_INFINITY);
if (!(wanted >= 1)) {
  process.stderr.write(`rows is ${JSON.stringify(process.argv[3])}, but must be a number from 1 on\n`);
  process.exit(2);
}

async function main() {
  // The package exports its code alone, so its data is found by where packages lie.
  const source = require.resolve
    .paths("vega-datasets")
    .map((modules) => path.join(modules, "vega-datasets", "data", "flights-3m.parquet"))
    .find((file) => fs.existsSync(file));
  if (source === undefined) throw new Error("vega-datasets is not installed; run npm ci");
  fs.mkdirSync(path.dirname(output), { recursive: true });
  const instance = await DuckDBInstance.create(":memory:", { threads: "1", memory_limit: "512MB" });
  const connection = await instance.connect();
  const quoted = (name) => `'${name.replaceAll("'", "''")}'`;
  await connection.run(
    `COPY (SELECT date, origin, destination, distance, delay, delay > 15 AS late,
                  CASE WHEN distance < 500 THEN 'short' WHEN distance < 1500 THEN 'medium' ELSE 'long' END AS haul
           FROM read_parquet(${quoted(source)})${Number.isFinite(wanted) ? ` USING SAMPLE reservoir(${wanted} ROWS) REPEATABLE (1)` : ""})
     TO ${quoted(`${output}.tmp`)} (FORMAT parquet, COMPRESSION zstd)`,
  );
  const counted = await connection.runAndReadAll(
    `SELECT count(*), avg(late::INTEGER) FROM read_parquet(${quoted(`${output}.tmp`)})`,
  );
  const [[rows, share]] = counted.getRows();
  connection.closeSync();
  fs.renameSync(`${output}.tmp`, output);
  process.stdout.write(`${rows} flights in ${output}, ${(100 * share).toFixed(1)} % of them late\n`);
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
