import { randomBytes } from "node:crypto";
import type { S3Client } from "@aws-sdk/client-s3";
import type { Table } from "../../adapters/dynamodb/table";
import { createReclamationMemory, reclamationPrefix } from "../../adapters/reclamation/stored-cycle";
import { createReclamationObjects } from "../../adapters/reclamation/stored-objects";
import { createReclamationRows } from "../../adapters/reclamation/stored-rows";
import { createObjectStore } from "../../adapters/s3/object-store";
import { eachLimited, inParts } from "../../core/each-limited";
import { objectKeys } from "../../core/object-keys";
import { type CycleState, graceMs } from "../../core/reclamation/ports";
import { reclaim } from "../../core/reclamation/reclaim";
import { processTimeOf } from "../support/cpu";

/** The embedded services of the benchmark, in a process of their own. */
export interface Services {
  readonly pid: number;
  readonly bucket: string;
  readonly table: Table;
  /** Sets S3's clock: its distance from the time in milliseconds. */
  setClock(offset: number): Promise<void>;
}

const writesAtOnce = 32;
const contentBytes = 1_024;

export interface CycleLine {
  readonly cycle: string;
  readonly seconds: number;
  readonly clientCpuSeconds: number;
  readonly serviceCpuSeconds: number | undefined;
  readonly deleted: number;
  readonly unreferenced: number;
}

/**
 * Stores objects, of which rows, manifests and lists refer to some, and measures three cycles: the first one reads all
 * content, the second one deletes, the third one finds nothing new.
 *
 * @throws Error if a cycle deletes anything else than the content without a reference
 */
export async function measureCycles(
  count: number,
  services: Services,
  client: S3Client,
): Promise<readonly CycleLine[]> {
  const { bucket, table } = services;
  const store = createObjectStore(client, bucket, "teams/red/");
  await services.setClock(-2 * graceMs);
  const kept = await fill(count, store, table);
  await services.setClock(0);
  const dependencies = {
    objects: createReclamationObjects(client, bucket),
    rows: createReclamationRows(table),
    memory: createReclamationMemory(table, createObjectStore(client, bucket, reclamationPrefix), "cycle"),
    clock: { now: () => Date.now() },
  };
  const lines: CycleLine[] = [];
  for (const cycle of ["first", "deletes", "finds nothing new"]) {
    const [began, cpu, serviceCpu] = [performance.now(), process.cpuUsage(), processTimeOf(services.pid)];
    const state: CycleState = await reclaim(dependencies, { until: Number.POSITIVE_INFINITY, everyMs: 0 });
    const { user, system } = process.cpuUsage(cpu);
    const after = processTimeOf(services.pid);
    lines.push({
      cycle,
      seconds: (performance.now() - began) / 1_000,
      clientCpuSeconds: (user + system) / 1e6,
      serviceCpuSeconds: serviceCpu === undefined || after === undefined ? undefined : (after - serviceCpu) / 1_000,
      deleted: state.deleted.objects,
      unreferenced: state.unreferenced.objects,
    });
  }
  const left = new Set((await store.list("cas/")).map((key) => key.split("/").at(-1)!));
  const lost = kept.filter((digest) => !left.has(digest));
  if (lost.length > 0 || left.size !== kept.length) {
    throw new Error(`${lost.length} referenced contents are lost, and ${left.size} of ${kept.length} are left`);
  }
  return lines;
}

/** Stores content: 58 % by a manifest, 2 % lists by a row, 10 % by a list, 30 % without a reference. Returns the referenced. */
async function fill(count: number, store: ReturnType<typeof createObjectStore>, table: Table): Promise<string[]> {
  const kept: string[] = [];
  const put = async (howMany: number, body: (i: number) => Uint8Array | string): Promise<string[]> => {
    const digests = new Array<string>(howMany);
    await eachLimited(digests.keys(), writesAtOnce, async (i) => {
      digests[i] = (await store.putContent(body(i))).sha256;
    });
    return digests;
  };
  const random = () => randomBytes(contentBytes);
  const byManifest = await put(Math.floor(count * 0.58), random);
  const byList = await put(Math.floor(count * 0.1), random);
  const lists = inParts(byList, 5);
  const listDigests = await put(lists.length, (i) => JSON.stringify({ files: lists[i], salt: i }));
  kept.push(...byManifest, ...byList, ...listDigests);
  const manifests = inParts(byManifest, 60);
  await eachLimited(manifests.entries(), writesAtOnce, ([i, tensors]) =>
    store.put(objectKeys.checkpointManifest(`run-${i}`, 1), JSON.stringify({ tensors })),
  );
  const rows = inParts(listDigests, 10).map((digests, i) => ({ pk: `RUN#${i}`, sk: "RUN", digests }));
  await table.batchWrite(rows);
  await put(count - kept.length - manifests.length, random);
  return kept;
}
