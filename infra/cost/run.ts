import { instancePriceOf, instancePrices } from "../../core/metering/prices";
import { hoursAMonth, prices } from "./prices";

export interface RunPlan {
  readonly instanceType: string;
  readonly nodes: number;
  readonly hours: number;
  readonly market: "spot" | "on-demand";
  readonly placement: "spread" | "cluster";
  readonly diskGib: number;
  /** Whether instances have public addresses, which cost money per hour. */
  readonly publicAddresses: boolean;
  /** The number of availability zones of nodes with placement `spread`. Those with `cluster` are in one. */
  readonly zones: number;
  /** The size of each step's gradient in MB, and the number of steps. They determine the traffic between zones. */
  readonly gradientMb: number;
  readonly steps: number;
}

export interface RunCost {
  readonly parts: readonly { readonly what: string; readonly usd: number }[];
  readonly usd: number;
}

/**
 * The cost of a run's machines, without cents for requests. In a ring of N workers, each sends 2 (N − 1) / N of the
 * gradient in each step, (Z − 1) / Z of it to another of Z zones. @throws Error for a type without a price
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
  const crossing = plan.placement === "spread" && plan.zones > 1 ? (plan.zones - 1) / plan.zones : 0;
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
