import { type Formation, SimulatedGang } from "./simulated-gang";
import { fullMesh, microBatchesFor, sparseMesh } from "./topology";

export type Protocol = "by turns" | "all look";

export interface FormationLine extends Formation {
  readonly workers: number;
  readonly protocol: Protocol;
  readonly event: "form" | "lose 1" | "lose 10 %";
}

/**
 * Forms a gang of W members, then removes 1 and 10 % of them. With `all look`, as in earlier versions and in gangs of up to 64
 * workers, each member reads the whole gang every 50 ms, over a full mesh.
 */
export async function measureFormation(workers: number, protocol: Protocol, seed: number): Promise<FormationLine[]> {
  const microBatches = microBatchesFor(workers);
  const everyone = protocol === "all look";
  const gang = new SimulatedGang({
    workers,
    microBatches,
    seed,
    topology: everyone ? fullMesh : sparseMesh(microBatches),
    ...(everyone ? { timing: { largeGangWorkers: Number.POSITIVE_INFINITY } } : {}),
  });
  const line = { workers, protocol };
  const formed = await gang.form();
  const lines: FormationLine[] = [{ ...line, event: "form", ...formed }];
  if (formed.ms === undefined) return lines;
  lines.push({ ...line, event: "lose 1", ...(await gang.lose(1)) });
  lines.push({ ...line, event: "lose 10 %", ...(await gang.lose(Math.max(1, Math.round(workers / 10)))) });
  return lines;
}
