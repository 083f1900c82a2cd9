import type { ComputeEnvironment, Finding } from "./account";

type Market = ComputeEnvironment["market"];

interface InstanceQuota {
  readonly name: string;
  readonly code: string;
  readonly gpu: boolean;
}

/**
 * The quotas of vCPUs by family and market (Service Quotas, service `ec2`). The first pattern that matches applies. The
 * on-demand quota of P instances covers all generations.
 */
const quotasByFamily: readonly (readonly [RegExp, Readonly<Record<Market, InstanceQuota>>])[] = [
  [
    /^(g\d|gr\d|vt\d)/,
    {
      spot: { name: "All G and VT Spot Instance Requests", code: "L-3819A6DF", gpu: true },
      "on-demand": { name: "Running On-Demand G and VT instances", code: "L-DB2E81BA", gpu: true },
    },
  ],
  [
    /^p[234]/,
    {
      spot: { name: "All P4, P3 and P2 Spot Instance Requests", code: "L-7212CCBC", gpu: true },
      "on-demand": { name: "Running On-Demand P instances", code: "L-417A185B", gpu: true },
    },
  ],
  [
    /^p5/,
    {
      spot: { name: "All P5 Spot Instance Requests", code: "L-C4BD4855", gpu: true },
      "on-demand": { name: "Running On-Demand P instances", code: "L-417A185B", gpu: true },
    },
  ],
  [
    /^[acdhimrtz]\d/,
    {
      spot: { name: "All Standard Spot Instance Requests", code: "L-34B43A08", gpu: false },
      "on-demand": { name: "Running On-Demand Standard instances", code: "L-1216C47A", gpu: false },
    },
  ],
];

/** The quota of concurrent executions (Service Quotas, service `lambda`), and the value that the platform needs. */
export const lambdaQuota = { code: "L-B99A9384", name: "Lambda concurrent executions", recommended: 300 } as const;

/** Returns the quota that limits instances of a family, or nothing for families that the table does not list. */
export function quotaOf(instanceType: string, market: Market): InstanceQuota | undefined {
  return quotasByFamily.find(([pattern]) => pattern.test(instanceType))?.[1][market];
}

/** Returns the quotas that limit the compute environments, with the vCPUs that the largest of them may request. */
export function neededQuotas(
  environments: readonly ComputeEnvironment[],
): readonly (InstanceQuota & { readonly vcpus: number })[] {
  const needed = new Map<string, InstanceQuota & { readonly vcpus: number }>();
  for (const { instanceTypes, market, maxVcpus } of environments) {
    const quotas = instanceTypes.flatMap((type) => quotaOf(type, market) ?? []);
    for (const quota of new Map(quotas.map((one) => [one.code, one])).values())
      needed.set(quota.code, { ...quota, vcpus: Math.max(needed.get(quota.code)?.vcpus ?? 0, maxVcpus) });
  }
  return [...needed.values()];
}

/** Compares a quota of vCPUs with what the compute environments may request. */
export function quotaFinding(
  quota: InstanceQuota & { readonly vcpus: number },
  value: number,
  gpusWanted: boolean,
): Finding {
  const check = `quota ${quota.code} (${quota.name})`;
  const request = `aws service-quotas request-service-quota-increase --service-code ec2 --quota-code ${quota.code} --desired-value ${quota.vcpus}`;
  // The smallest instances of the default families have 2 vCPUs, and those with a GPU have 4.
  const least = quota.gpu ? 4 : 2;
  if (value < least) {
    return {
      check,
      result: quota.gpu && !gpusWanted ? "warning" : "problem",
      found: `${value} vCPUs: no instance can start, and jobs wait without limit`,
      fix: `Request ${quota.vcpus} vCPUs: ${request}`,
    };
  }
  if (value < quota.vcpus) {
    return {
      check,
      result: "warning",
      found: `${value} vCPUs, but the compute environments may request ${quota.vcpus}: jobs above the quota wait`,
      fix: `Request more: ${request}. Or lower maxVcpus in ringmaster.config.ts`,
    };
  }
  return { check, result: "ok", found: `${value} vCPUs, and the compute environments request at most ${quota.vcpus}` };
}

/** Compares the quota of concurrent executions with what the platform's functions need. */
export function lambdaFinding(value: number): Finding {
  const { code, name, recommended } = lambdaQuota;
  const check = `quota ${code} (${name})`;
  if (value >= recommended) return { check, result: "ok", found: `${value}` };
  return {
    check,
    result: "warning",
    found: `${value}: each follower of a run uses one for up to 14 minutes, and other requests are then throttled`,
    fix: `Request 1000: aws service-quotas request-service-quota-increase --service-code lambda --quota-code ${code} --desired-value 1000. Then set functions.accountConcurrency, and deploy`,
  };
}
