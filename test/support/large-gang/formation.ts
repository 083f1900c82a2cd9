import { type Formation, SimulatedGang } from "./simulated-gang";
import { sparseMesh } from "./topology";

export interface FormationLine extends Formation {
  readonly workers: number;
  readonly event: "form" | "lose 1" | "lose 10 %";
}

/** Forms a gang of W members, then removes 1 and 10 % of them. */
export async function measureFormation(workers: number, seed: number): Promise<FormationLine[]> {
  const microBatches = 2 ** Math.ceil(Math.log2(workers));
  const gang = new SimulatedGang({ workers, microBatches, seed, topology: sparseMesh(microBatches) });
  const formed = await gang.form();
  const lines: FormationLine[] = [{ workers, event: "form", ...formed }];
  if (formed.ms === undefined) return lines;
  lines.push({ workers, event: "lose 1", ...(await gang.lose(1)) });
  lines.push({ workers, event: "lose 10 %", ...(await gang.lose(Math.max(1, Math.round(workers / 10)))) });
  return lines;
}
