import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stackSecret } from "../../../adapters/files/owner-keys";
import { contentOf } from "./content";
import {
  applyRecord,
  copyImage,
  type DiskImage,
  readImage,
  readTrace,
  type TraceRecord,
  writeImage,
} from "./disk-image";
import { openStores } from "./stores";

export interface PowerLossResult {
  readonly rounds: number;
  readonly syncs: number;
  /** Number of acknowledged writes that were checked, over all rounds. */
  readonly acknowledged: number;
  readonly lost: readonly string[];
  /** Rounds in which a store was refused as damaged. */
  readonly refused: readonly string[];
}

export interface PowerLossOptions {
  readonly rounds: number;
  readonly writes: number;
  readonly random: () => number;
  /** Treats every sync as ignored by the disk: the check must then find losses. */
  readonly ignoreSyncs?: boolean;
  readonly workload: string;
  readonly source: string;
}

/** Returns the reason why the simulation cannot run here, if any. */
export function unavailable(): string | undefined {
  if (process.platform !== "linux") return "it needs Linux";
  return spawnSync("cc", ["--version"]).status === 0 ? undefined : "it needs a C compiler (cc)";
}

/** Runs one workload under the trace, and cuts the power at random points of it. */
export async function losePower(options: PowerLossOptions): Promise<PowerLossResult> {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-power-loss-"));
  try {
    const { initial, records: all } = await runWorkload(directory, options);
    const records = options.ignoreSyncs ? all.filter(({ kind }) => kind === "acknowledged") : all;
    const lost: string[] = [];
    const refused: string[] = [];
    let acknowledged = 0;
    for (let round = 0; round < options.rounds; round++) {
      const point = Math.floor(options.random() * (records.length + 1));
      const data = join(directory, `after-${round}`);
      cutPower(initial, records, point, data, options.random);
      const promised = records.slice(0, point).flatMap((one) => (one.kind === "acknowledged" ? [one.line] : []));
      acknowledged += promised.length;
      try {
        lost.push(...(await missing(data, promised)).map((line) => `record ${point}: ${line}`));
      } catch (error) {
        refused.push(`record ${point}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        rmSync(data, { recursive: true, force: true });
      }
    }
    const syncs = records.filter(({ kind }) => kind === "file" || kind === "directory").length;
    return { rounds: options.rounds, syncs, acknowledged, lost, refused };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runWorkload(
  directory: string,
  { workload, source, writes }: PowerLossOptions,
): Promise<{ readonly initial: DiskImage; readonly records: readonly TraceRecord[] }> {
  const data = join(directory, "data");
  const trace = join(directory, "trace");
  const library = join(directory, "sync-trace.so");
  const built = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]);
  if (built.status !== 0) throw new Error(`cc failed: ${built.stderr}`);
  mkdirSync(data);
  const initial = readImage(data);
  writeFileSync(trace, "");
  const traced = { LD_PRELOAD: library, SYNC_TRACE_ROOT: data, SYNC_TRACE_FILE: trace };
  const run = spawnSync(process.execPath, [workload, data, trace, String(writes)], {
    env: { ...process.env, ...traced, NODE_PATH: resolve("node_modules") },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (run.status !== 0 || !existsSync(trace)) throw new Error(`the workload ended with ${run.status}`);
  return { initial, records: readTrace(readFileSync(trace)) };
}

function cutPower(
  initial: DiskImage,
  records: readonly TraceRecord[],
  point: number,
  to: string,
  random: () => number,
): void {
  const image = copyImage(initial);
  for (const record of records.slice(0, point)) applyRecord(image, record);
  // The sync in progress: the disk may have completed a part of it. Later ones depend on it.
  const next = records.slice(point).find(({ kind }) => kind === "file" || kind === "directory");
  const more = new Map<string, Buffer>();
  if (next?.kind === "directory" && random() < 0.5) applyRecord(image, next);
  if (next?.kind === "file") {
    const later = copyImage(image);
    applyRecord(later, next);
    more.set(next.id, later.files.get(next.id)!);
  }
  writeImage(image, to, more, random);
}

async function missing(data: string, promised: readonly string[]): Promise<readonly string[]> {
  const stores = await openStores(data);
  try {
    const events = new Map<number, number>();
    for (const event of stores.journal.recover()) events.set(event, (events.get(event) ?? 0) + 1);
    const steps = promised.flatMap((line) => (line.startsWith("objects ") ? [line.slice("objects ".length)] : []));
    const lost = promised.filter((line) => {
      const [store, key = ""] = line.split(" ");
      if (store === "objects") return false;
      if (store === "secret") return stackSecret(data) !== key;
      const number = Number(key.split("-").at(-1));
      if (store === "tables") return stores.tables.get(Buffer.from(`Z${key}`)) !== contentOf(key);
      if (store === "small") return stores.small.get(key) !== contentOf(key);
      if (store === "json") return stores.json.get(key) !== number;
      const left = (events.get(number) ?? 0) - 1;
      events.set(number, left);
      return left < 0;
    });
    return [...lost, ...(await stores.objects.faults(steps))];
  } finally {
    await stores.close();
  }
}
