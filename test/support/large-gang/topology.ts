import {
  fullMeshWorkers,
  type HalvingPlan,
  type HalvingPlans,
  planHalving,
} from "../../../trainer-container/reduction/halving";
import { planReduction } from "../../../trainer-container/reduction/plan";
import type { Topology } from "./simulated-network";

export function sparseMesh(microBatches: number): Topology {
  const lists = new Map<string, readonly number[]>();
  return (worldSize, rank) => {
    const key = `${worldSize}/${rank}`;
    const near = lists.get(key) ?? neighbours(microBatches, worldSize, rank);
    lists.set(key, near);
    return near;
  };
}

function neighbours(microBatches: number, worldSize: number, rank: number): readonly number[] {
  const plan = worldSize > fullMeshWorkers ? planHalving(planReduction(microBatches, worldSize)) : undefined;
  if (plan) return halvingNeighbours(plan, rank);
  return Array.from({ length: worldSize }, (_, other) => other).filter((other) => other !== rank);
}

export function halvingNeighbours({ first, last }: HalvingPlans, rank: number): readonly number[] {
  const near = new Set([...neighboursIn(first, rank), ...neighboursIn(last, rank)]);
  return [...near].sort((a, b) => a - b);
}

function neighboursIn({ hosts, roles }: HalvingPlan, rank: number): readonly number[] {
  const { position, gives, takes, guests, server } = roles[rank]!;
  const near = [...gives, ...takes].map((entry) => entry.rank).concat(guests);
  if (server !== undefined) near.push(server);
  if (position !== undefined) for (let bit = 1; bit < hosts.length; bit *= 2) near.push(hosts[position ^ bit]!);
  return near;
}
