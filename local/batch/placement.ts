import type { ComputeEnvironment } from "./types";

export interface Need {
  readonly vcpus: number;
  readonly gpus?: number;
  readonly multiNode: boolean;
}

export interface Usage {
  /** The vCPUs in use, by compute environment. */
  readonly inUse: ReadonlyMap<string, number>;
  /** The vCPUs of the machine for all compute environments together. A job that needs more runs alone. */
  readonly limit: number;
  /** Absent if the machine has none: a job that needs one then starts, and its trainer reports that there is none. */
  readonly gpus?: { readonly inUse: number; readonly limit: number };
}

export type Decision =
  | { readonly kind: "place"; readonly computeEnvironment: ComputeEnvironment }
  | { readonly kind: "wait"; readonly for: "machine" | "queue" }
  | { readonly kind: "never"; readonly statusReason: string };

/**
 * Selects the first compute environment of the queue with enough free vCPUs. `never` means that no environment can run
 * the job: Batch leaves such a job RUNNABLE.
 */
export function place(need: Need, environments: readonly ComputeEnvironment[], usage: Usage): Decision {
  const total = [...usage.inUse.values()].reduce((sum, used) => sum + used, 0);
  const enabled = environments.filter(({ state }) => state === "ENABLED");
  if (enabled.length === 0) return { kind: "wait", for: "queue" };
  const allowed = enabled.filter((environment) => !(need.multiNode && isSpot(environment)));
  if (allowed.length === 0) {
    return {
      kind: "never",
      statusReason:
        "MISCONFIGURATION:MULTI_NODE_ON_SPOT - Multi-node parallel jobs do not run in Spot compute environments. Use a queue of on-demand ones, or single-node jobs.",
    };
  }
  const { gpus = 0 } = need;
  const sufficient = allowed.filter(
    (environment) =>
      gpus <= (usage.gpus?.limit ?? Infinity) && need.vcpus <= (environment.computeResources?.maxvCpus ?? Infinity),
  );
  if (sufficient.length === 0) {
    return {
      kind: "never",
      statusReason:
        "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job resource requirement (vCPU/memory/GPU) is higher than that can be met by the CE(s) attached to the job queue.",
    };
  }
  if (usage.gpus && usage.gpus.inUse + gpus > usage.gpus.limit) return { kind: "wait", for: "queue" };
  if (total > 0 && total + need.vcpus > usage.limit) return { kind: "wait", for: "machine" };
  const computeEnvironment = sufficient.find(({ computeEnvironmentName: name, computeResources }) => {
    const used = usage.inUse.get(name) ?? 0;
    return used + need.vcpus <= (computeResources?.maxvCpus ?? Infinity);
  });
  return computeEnvironment ? { kind: "place", computeEnvironment } : { kind: "wait", for: "queue" };
}

export function isSpot(environment: ComputeEnvironment | undefined): boolean {
  return environment?.computeResources?.type?.includes("SPOT") ?? false;
}
