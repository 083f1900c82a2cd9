import * as fs from "node:fs";
import * as os from "node:os";
import { join } from "node:path";
import { quoteText } from "../../adapters/duckdb/session";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { pushDataset } from "../../cli/datasets/push";
import { type DatasetManifest, splitNames } from "../../core/datasets/shapes";
import { sha256 } from "../../core/digest";
import { readSplits } from "../../core/features/materialize";
import type { FeatureManifest } from "../../core/features/shapes";
import type { ObjectStore } from "../../core/ports";
import { prepareFeatures } from "../../lambdas/prepare-features/prepare";
import { parseOptions } from "../support/arguments";
import { runPeerScript } from "../support/peer-python";
import { alternate, comparison } from "../support/peer-rounds";
import { startReport } from "../support/report";
import { type Comparison, compareFeatures, type PeerOutput } from "./compare";
import { datasetSchema, features, transforms } from "./plan";

const flights = join(process.cwd(), "node_modules/vega-datasets/data/flights-3m.parquet");
/** Every this many rows are compared as float64. */
const every = 100;

/** Compares a plan with pandas and scikit-learn. `--rounds N` (3), `--rows N` (3,000,000), `--json` for machines. */
export async function benchPlan(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { rounds: 3, rows: 3_000_000 });
  if (!fs.existsSync(flights)) throw new Error(`${flights} is not there: npm install`);
  const report = startReport(values.json);
  const folder = fs.mkdtempSync(join(os.tmpdir(), "bench-plan-"));
  try {
    const objects = folderStore(folder);
    const manifest = await pushFlights(folder, objects, values.rows);
    const splits = await readSplits(manifest, objects);
    fs.writeFileSync(join(folder, "splits.u8"), splits);
    const shards = manifest.shards.map((shard) => join(folder, shard.sha256));
    fs.writeFileSync(join(folder, "input.json"), JSON.stringify({ shards, every }));
    let compared: Comparison | undefined;
    const measured = await alternate(
      values.rounds,
      () => measure(manifest, objects),
      async ({ features }) => {
        const peer = runPeerScript<PeerOutput>("plan/pipeline.py", [folder]);
        if (typeof peer !== "string")
          compared ??= await compareFeatures({ folder, every, splits, objects, manifest, features, peer });
        return peer;
      },
    );
    const { rowCount: rows } = manifest;
    const own = measured.own.map(({ features: _, ...round }) => round);
    report(
      { rows, ...measured, own, compared },
      `${transforms} transforms of ${rows} rows, from the dataset to the shards of ${splitNames.join(", ")}; median of ${own.length}`,
      "",
      comparison(measured, "scikit-learn and pandas"),
      ...(measured.reason ? [measured.reason] : []),
      ...(compared ? [differences(compared)] : []),
    );
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Keeps contents as files of a folder. */
function folderStore(folder: string): ObjectStore {
  const put = async (body: Uint8Array | string) => {
    const name = sha256(body);
    fs.writeFileSync(join(folder, name), body);
    return { sha256: name, bytes: body.length };
  };
  return {
    putContent: put,
    put: async (key: string, body: Uint8Array | string) =>
      fs.writeFileSync(join(folder, key.replaceAll("/", "-")), body),
    get: async (key: string) => fs.readFileSync(join(folder, key.replaceAll("/", "-"))),
    getContent: async (name: string) => fs.readFileSync(join(folder, name)),
  } as unknown as ObjectStore;
}

async function pushFlights(folder: string, objects: ObjectStore, rows: number): Promise<DatasetManifest> {
  const file = join(folder, "flights.parquet");
  const selected = `SELECT date, distance, origin, destination, CAST(delay AS DOUBLE) AS delay FROM read_parquet(${quoteText(flights)}) LIMIT ${rows}`;
  await withDuckDb((session) => session.run(`COPY (${selected}) TO ${quoteText(file)} (FORMAT parquet)`));
  const schemaFile = join(folder, "schema.yaml");
  fs.writeFileSync(schemaFile, datasetSchema);
  const { draft } = await pushDataset({
    name: "flights",
    file,
    schemaFile,
    uploads: {
      missing: async (references) => references.map((reference) => reference.sha256),
      put: async (_reference, source) =>
        void (await objects.putContent("path" in source ? fs.readFileSync(source.path) : source.bytes)),
    },
    register: async (made) => made,
  });
  return { ...draft, version: 1, createdAt: "2026-01-01T00:00:00.000Z" };
}

async function measure(manifest: DatasetManifest, objects: ObjectStore) {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const job = { features, evaluation: { slices: [] } };
  const { featureManifestKey } = await prepareFeatures({ manifest, job, objects, inputHash: "bench" });
  const { user, system } = process.cpuUsage(cpu);
  const times = { seconds: (performance.now() - start) / 1_000, cpuSeconds: (user + system) / 1e6 };
  const text = Buffer.from(await objects.get(featureManifestKey)).toString();
  return { ...times, features: JSON.parse(text) as FeatureManifest };
}

function differences(compared: Comparison): string {
  return [
    `largest difference, relative to max(1, |value|): of ${compared.fitted} fitted values ${compared.fittedDifference.toExponential(1)}, `,
    `of ${compared.sampled} float64 values ${compared.sampleDifference.toExponential(1)}; `,
    `of ${compared.stored} float32 values in shards ${compared.differentStored} differ, by at most ${compared.storedDifference.toExponential(1)}; `,
    `${compared.differentCodes} of ${compared.codes} codes differ`,
  ].join("");
}
