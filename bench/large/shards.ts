import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSnapshot } from "../../adapters/duckdb/snapshot";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { parseDataContract } from "../../core/datasets/contract/rules";
import type { AppliedContract } from "../../core/datasets/contract/stored";
import { parseDatasetSchema } from "../../core/datasets/schema";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { jobSchema } from "../../core/runs/job";
import { RoundPending, TaskDone } from "../../core/runs/rounds";
import { prepareFeatures } from "../../lambdas/prepare-features/handler";
import { validateDataset } from "../../lambdas/validate-dataset/validate";
import { createMemoryObjectStore } from "../../test/adapters/s3/memory-object-store";
import type { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { writeFiles, writeSource } from "./source";

interface Work {
  readonly what: string;
  readonly calls: number;
  readonly cpuSeconds: number;
}

/**
 * Measures the processor time of each round of a large version, for one shard, in this process: the times of functions
 * on a version of any size follow from it.
 */
export async function measureShards(report: ReturnType<typeof startReport>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ringmaster-shards-"));
  try {
    const files = writeFiles(folder);
    const made = writeSource(join(folder, "source"), 1);
    const objects = createMemoryObjectStore();
    const began = process.cpuUsage();
    const manifest = await withDuckDb(async (session): Promise<DatasetManifest> => {
      const schema = parseDatasetSchema(readFileSync(files.schema, "utf8"));
      const file = join(folder, "source");
      const { draft, shards, indexes } = await createSnapshot(session, { name: "large", file, schema });
      for (const shard of shards) await objects.putContent(readFileSync(shard.path));
      for (const index of indexes.values()) await objects.putContent(index);
      return { ...draft, version: 1, createdAt: "2026-01-01T00:00:00.000Z" };
    });
    const snapshot = secondsSince(began);
    const contract = {
      record: { contract: parseDataContract(readFileSync(files.contract, "utf8")), revision: 1 },
      others: new Map(),
      at: "2026-01-01T00:00:00.000Z",
    } as unknown as AppliedContract;
    const job = jobSchema.parse({
      ...{ experiment: "large", dataset: "large@latest", model: { type: "mlp", hidden: [32] } },
      hyperparameters: { epochs: 1 },
    });
    const inputHash = "bench";
    const shared = { manifest, objects, inputHash, groupBytes: 1 };
    const work = [
      ...(await measureRounds(["validate"], (task) => validateDataset({ ...shared, contract, task }))),
      ...(await measureRounds(["fit", "encode"], (task) => prepareFeatures({ ...shared, job, task }))),
    ];
    const shards = manifest.shards.length;
    const rows = work.map(({ what, calls, cpuSeconds }) => [what, String(calls), cpuSeconds.toFixed(2)]);
    const size = `${(manifest.bytes / 2 ** 20 / shards).toFixed(0)} MiB and ${Math.round(made.rows / shards)} rows each`;
    report(
      { shards, made, snapshot, work },
      `${shards} shards, ${size}, of ${(made.bytes / 1e9).toFixed(2)} GB of CSV; snapshot: ${snapshot.toFixed(1)} processor seconds`,
      "",
      markdownTable(["call", "calls", "processor seconds, each"], rows),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Task = RoundPending | undefined;

async function measureRounds(
  names: readonly string[],
  step: (task?: { readonly round: string; readonly part: number }) => Promise<unknown>,
): Promise<readonly Work[]> {
  const work: Work[] = [];
  for (const what of [...names, "merge"]) {
    const began = process.cpuUsage();
    const pending = await step().then(
      (): Task => undefined,
      (error: unknown): Task => {
        if (error instanceof RoundPending) return error;
        throw error;
      },
    );
    if (!pending) {
      work.push({ what: `${names.join(", ")}: merge`, calls: 1, cpuSeconds: secondsSince(began) });
      return work;
    }
    const { round, parts } = pending;
    const start = process.cpuUsage();
    for (let part = 0; part < parts; part += 1) {
      const end = await step({ round, part }).catch((error: unknown) => error);
      if (!(end instanceof TaskDone)) throw end;
    }
    work.push({ what: `${what}: a shard`, calls: parts, cpuSeconds: secondsSince(start) / parts });
  }
  throw new Error("the step has more rounds than expected");
}

function secondsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}
