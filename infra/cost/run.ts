import { instancePriceOf, instancePrices } from "../../core/metering/prices";
import { hoursAMonth, prices } from "./prices";

export interface RunPlan {
  readonly instanceType: string;
  readonly nodes: number;
  /** Of each node, losses and waits for capacity apart. */
  readonly hours: number;
  readonly market: "spot" | "on-demand";
  readonly diskGib: number;
  /** Whether instances have public addresses, which are paid for by the hour. */
  readonly publicAddresses: boolean;
  /** Availability zones that spot nodes are spread over; gangs on demand are in one. */
  readonly zones: number;
  /** What each step's gradient is large, in MB, and how many steps there are; together they say what crosses zones. */
  readonly gradientMb: number;
  readonly steps: number;
}

export interface RunCost {
  readonly parts: readonly { readonly what: string; readonly usd: number }[];
  readonly usd: number;
}

/**
 * What a run's machines cost. Requests, metrics and the state machine's transitions are left out: cents.
 *
 * In a ring of N workers, each sends 2 (N − 1) / N of the gradient a step to its neighbour (docs/algorithms.md). Of N neighbours as good as
 * (Z − 1) / Z are in another of Z zones where workers are spread at random.
 *
 * @throws Error for an instance type without a price
 */
export function runCostOf(plan: RunPlan): RunCost {
  const price = instancePriceOf(plan.instanceType);
  if (!price) {
    throw new Error(
      `--instance is ${JSON.stringify(plan.instanceType)}, whose price core/metering/prices.ts does not have. It has: ${instancePrices.map(({ instanceType }) => instanceType).join(", ")}.`,
    );
  }
  const { nodes, hours, market } = plan;
  const nodeHours = nodes * hours;
  const spot = market === "spot";
  const crossing = spot && plan.zones > 1 ? (plan.zones - 1) / plan.zones : 0;
  const sentGb = nodes > 1 ? (2 * (nodes - 1) * plan.gradientMb * plan.steps) / 1_000 : 0;
  const parts = [
    {
      what: `${nodeHours} node-hours of ${plan.instanceType}, ${market}`,
      usd: nodeHours * (spot ? price.spotUsdPerHourEstimate : price.onDemandUsdPerHour),
    },
    { what: `${plan.diskGib} GiB of disk each`, usd: (nodeHours * plan.diskGib * prices.diskGibMonth) / hoursAMonth },
    { what: "public addresses", usd: plan.publicAddresses ? nodeHours * prices.publicAddressHour : 0 },
    {
      what: `gradients between zones (${Math.round(sentGb * crossing)} GB)`,
      usd: sentGb * crossing * prices.zoneCrossingGb,
    },
  ].filter(({ usd }) => usd > 0);
  return { parts, usd: parts.reduce((sum, { usd }) => sum + usd, 0) };
}
