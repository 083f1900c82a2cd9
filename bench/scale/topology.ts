import { fullMeshWorkers } from "../../trainer-container/reduction/choose";
import { halvingNeighbours, planHalving } from "../../trainer-container/reduction/halving";
import { planReduction } from "../../trainer-container/reduction/plan";
import type { Topology } from "./simulated-network";

/** The smallest power of two that is no less: what a run of so many workers would choose for V. */
export function microshardsFor(workers: number): number {
  return 2 ** Math.ceil(Math.log2(workers));
}

/** Every rank with every other. */
export const fullMesh: Topology = (worldSize, rank) =>
  Array.from({ length: worldSize }, (_, other) => other).filter((other) => other !== rank);

/** Full up to 64 ranks; beyond, those that halving and doubling exchanges frames with. */
export function sparseMesh(microshards: number): Topology {
  const known = new Map<string, readonly number[]>();
  return (worldSize, rank) => {
    const key = `${worldSize}/${rank}`;
    const near = known.get(key) ?? neighbours(microshards, worldSize, rank);
    known.set(key, near);
    return near;
  };
}

function neighbours(microshards: number, worldSize: number, rank: number): readonly number[] {
  const plan = worldSize > fullMeshWorkers ? planHalving(planReduction(microshards, worldSize)) : undefined;
  return plan ? halvingNeighbours(plan, rank) : fullMesh(worldSize, rank);
}
