import type { Node } from "constructs";

/** What a deployment may choose, by CDK context (`-c prefix=team-a`) or `cdk.json`. */
export interface DeploymentSettings {
  /** Begins every name: several platforms may stand in one account. */
  readonly prefix: string;
  /** Most vCPUs at once of each compute environment. */
  readonly maxVcpus: number;
  /**
   * Instance families of trainers. One processor and one GPU model each: the numerics of a run include them, so workers on different
   * models would not be bit-identical.
   */
  readonly cpuInstanceClasses: readonly string[];
  readonly gpuInstanceClass: string;
  /** A trainer image in a registry; without one, the image is built from `trainer-container/Dockerfile` at deployment. */
  readonly trainerImage?: string;
}

const defaults: DeploymentSettings = {
  prefix: "ringmaster",
  maxVcpus: 256,
  cpuInstanceClasses: ["c6i", "m6i", "r6i"],
  gpuInstanceClass: "g5",
};

/** @throws Error that names the context key, its value and the rule */
export function readSettings(node: Node): DeploymentSettings {
  const prefix = String(node.tryGetContext("prefix") ?? defaults.prefix);
  if (!/^[a-z][a-z0-9-]{1,23}$/.test(prefix)) {
    throw new Error(
      `The context "prefix" is ${JSON.stringify(prefix)}, but must be 2 to 24 lowercase letters, digits and hyphens, and begin with a letter: it begins the names of buckets, functions and queues.`,
    );
  }
  const maxVcpus = Number(node.tryGetContext("maxVcpus") ?? defaults.maxVcpus);
  if (!Number.isInteger(maxVcpus) || maxVcpus < 1) {
    throw new Error(
      `The context "maxVcpus" is ${node.tryGetContext("maxVcpus")}, but must be a whole number from 1 on.`,
    );
  }
  const trainerImage = node.tryGetContext("trainerImage") as string | undefined;
  return {
    prefix,
    maxVcpus,
    cpuInstanceClasses: listOf(node.tryGetContext("cpuInstanceClasses")) ?? defaults.cpuInstanceClasses,
    gpuInstanceClass: String(node.tryGetContext("gpuInstanceClass") ?? defaults.gpuInstanceClass),
    ...(trainerImage === undefined ? {} : { trainerImage }),
  };
}

function listOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.map(String) : String(value).split(",");
}
