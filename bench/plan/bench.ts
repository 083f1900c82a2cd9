import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { quoteText } from "../../adapters/duckdb/session";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { pushDataset } from "../../cli/datasets/push";
import { type DatasetManifest, splitNames } from "../../core/datasets/shapes";
import { sha256 } from "../../core/digest";
import { readSplits } from "../../core/features/materialize";
import type { FeatureManifest } from "../../core/features/shapes";
import type { ObjectStore } from "../../core/ports";
import { prepareFeatures } from "../../lambdas/prepare-features/prepare";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { markdownTable } from "../support/table";
import { type Comparison, compareFeatures, type PeerOutput } from "./compare";
import { datasetSchema, features, transforms } from "./plan";

const flights = join(process.cwd(), "node_modules/vega-datasets/data/flights-3m.parquet");
/** Every this many rows are compared as float64. */
const every = 100;

interface Round {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Compares a plan with pandas and scikit-learn. `--rounds N` (3), `--rows N` (3,000,000), `--json` for machines. */
export async function benchPlan(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "3" },
      rows: { type: "string", default: "3000000" },
      json: { type: "boolean" },
    },
  });
  if (!fs.existsSync(flights)) throw new Error(`${flights} is not there: npm install`);
  const folder = fs.mkdtempSync(join(os.tmpdir(), "bench-plan-"));
  try {
    const objects = folderStore(folder);
    const manifest = await pushFlights(folder, objects, Number(values.rows));
    const splits = await readSplits(manifest, objects);
    fs.writeFileSync(join(folder, "splits.u8"), splits);
    const shards = manifest.shards.map((shard) => join(folder, shard.sha256));
    fs.writeFileSync(join(folder, "input.json"), JSON.stringify({ shards, every }));
    const [own, peers]: [Round[], Round[]] = [[], []];
    let compared: Comparison | undefined;
    let reason = "";
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const made = await measure(manifest, objects);
      own.push(made.round);
      const peer = runPeer(folder);
      if (typeof peer === "string") reason = peer;
      else {
        peers.push(peer);
        compared ??= await compareFeatures({ folder, every, splits, objects, manifest, features: made.features, peer });
      }
    }
    report({ rows: manifest.rowCount, own, peers, compared, reason, json: Boolean(values.json) });
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
  const round = { seconds: (performance.now() - start) / 1_000, cpuSeconds: (user + system) / 1e6 };
  const text = Buffer.from(await objects.get(featureManifestKey)).toString();
  return { round, features: JSON.parse(text) as FeatureManifest };
}

/** Runs the pipeline in a process of its own; its time does not include the start and the imports. */
function runPeer(folder: string): PeerOutput | string {
  const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
  const script = join(process.cwd(), "bench", "plan", "pipeline.py");
  const { status, stdout, stderr } = spawnSync(python, [script, folder], { encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status === 0) return JSON.parse(stdout) as PeerOutput;
  return `scikit-learn was not measured; RINGMASTER_PEERS_PYTHON names a Python that has it, pandas and pyarrow: ${(stderr ?? "").trim().split("\n").at(-1)}\n`;
}

function report(result: {
  readonly rows: number;
  readonly own: readonly Round[];
  readonly peers: readonly Round[];
  readonly compared: Comparison | undefined;
  readonly reason: string;
  readonly json: boolean;
}): void {
  const { rows, own, peers, compared, reason, json } = result;
  const machine = describeMachine();
  if (json) {
    process.stdout.write(`${JSON.stringify({ machine, rows, own, peers, compared, ...(reason ? { reason } : {}) })}\n`);
    return;
  }
  const middle = (all: readonly Round[], of: keyof Round) => median(all.map((one) => one[of]));
  const row = (name: string, all: readonly Round[]) => [
    name,
    middle(all, "seconds").toFixed(2),
    middle(all, "cpuSeconds").toFixed(2),
    peers.length === 0 ? "–" : (middle(all, "seconds") / middle(peers, "seconds")).toFixed(2),
  ];
  const title = `${transforms} transforms of ${rows} rows, from the dataset to the shards of ${splitNames.join(", ")}; median of ${own.length}`;
  process.stdout.write(
    `${machineLine(machine)}\n${title}\n\n${markdownTable(
      ["", "seconds", "processor seconds", "× scikit-learn and pandas"],
      [row("ringmaster", own), ...(peers.length === 0 ? [] : [row("scikit-learn and pandas", peers)])],
    )}\n${reason}`,
  );
  if (compared === undefined) return;
  process.stdout.write(
    `largest difference, relative to max(1, |value|): of ${compared.fitted} fitted values ${compared.fittedDifference.toExponential(1)}, ` +
      `of ${compared.sampled} float64 values ${compared.sampleDifference.toExponential(1)}; ` +
      `of ${compared.stored} float32 values in shards ${compared.differentStored} differ, by at most ${compared.storedDifference.toExponential(1)}; ` +
      `${compared.differentCodes} of ${compared.codes} codes differ\n`,
  );
}
