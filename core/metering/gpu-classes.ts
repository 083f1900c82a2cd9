import { type InstancePrice, instancePrices } from "./prices";

/**
 * GPU models and the instance families that have them. A family with an older GPU (p2, p3, g3) has no driver in the Amazon
 * Linux 2023 image, and TensorFlow no longer supports it.
 */
const familiesByClass = {
  T4: ["g4dn"],
  A10G: ["g5"],
  L4: ["g6", "gr6"],
  L40S: ["g6e"],
  A100: ["p4d"],
  "A100-80GB": ["p4de"],
  H100: ["p5"],
} as const;

export type GpuClass = keyof typeof familiesByClass;

export const gpuClasses = Object.keys(familiesByClass) as [GpuClass, ...GpuClass[]];
export const gpuFamilies: readonly string[] = Object.values(familiesByClass).flat();

/** Returns the GPU class of an instance family. */
export function gpuClassOf(family: string): GpuClass | undefined {
  return gpuClasses.find((name) => (familiesByClass[name] as readonly string[]).includes(family));
}

/** Returns the GPU classes of instance families, each once. */
export function gpuClassesIn(families: readonly string[]): readonly GpuClass[] {
  return [...new Set(families.flatMap((family) => gpuClassOf(family) ?? []))];
}

/** Part of an instance's memory that jobs can have: the system and the agent take the rest. An estimate. */
const usableMemory = 0.95;

/** Resources that the workers of one host need together. */
export interface HostNeed {
  readonly gpus: number;
  readonly vcpus: number;
  readonly memoryMb: number;
}

/** Returns whether an instance of the class has these resources. @param gpuClass `undefined`: of any class */
export function fitsHost(gpuClass: GpuClass | undefined, need: HostNeed): boolean {
  return hostsFor(gpuClass, need).length > 0;
}

/** Returns the number of GPUs of the smallest instance of the class that has these resources. */
export function gpusOfSmallestHost(gpuClass: GpuClass, need: HostNeed): number {
  return Math.min(...hostsFor(gpuClass, need).map(({ gpus }) => gpus));
}

function hostsFor(gpuClass: GpuClass | undefined, { gpus, vcpus, memoryMb }: HostNeed): readonly InstancePrice[] {
  return instancePrices.filter((host) => {
    const own = gpuClassOf(host.instanceType.split(".")[0]!);
    if (own === undefined || (gpuClass ?? own) !== own) return false;
    return gpus <= host.gpus && vcpus <= host.vcpus && memoryMb <= host.memoryGib * 1024 * usableMemory;
  });
}
