/**
 * Prices of instances, for estimates: Linux, shared tenancy, us-east-1, US dollars an hour. On-demand prices are AWS's
 * list prices; other regions differ by up to a third. Spot prices change by hour and zone. Their estimate is a fraction
 * of the on-demand price, as observed in us-east-1 (c6i, g5, g6: mean over the zones; the other families: derived from
 * those). An invoice may differ. Sources: https://aws.amazon.com/ec2/pricing/on-demand/ and `aws ec2
 * describe-spot-price-history`.
 */
export const instancePricesAsOf = "2026-06-17";

export interface InstancePrice {
  readonly instanceType: string;
  readonly vcpus: number;
  readonly memoryGib: number;
  readonly gpus: number;
  readonly onDemandUsdPerHour: number;
  readonly spotUsdPerHourEstimate: number;
}

/** Size, vCPUs, memory in GiB, GPUs, on-demand price. */
type Row = readonly [size: string, vcpus: number, memoryGib: number, gpus: number, onDemandUsdPerHour: number];

interface Family {
  readonly spotFraction: number;
  readonly rows: readonly Row[];
}

const sizes: readonly (readonly [size: string, vcpus: number])[] = [
  ["large", 2],
  ["xlarge", 4],
  ["2xlarge", 8],
  ["4xlarge", 16],
  ["8xlarge", 32],
  ["12xlarge", 48],
  ["16xlarge", 64],
  ["24xlarge", 96],
  ["32xlarge", 128],
];

/** Builds a family whose memory and price are proportional to its vCPUs. */
const even = (spotFraction: number, memoryGibPerVcpu: number, usdPerVcpuHour: number): Family => ({
  spotFraction,
  rows: sizes.map(([size, vcpus]) => [size, vcpus, vcpus * memoryGibPerVcpu, 0, vcpus * usdPerVcpuHour]),
});

const families: Readonly<Record<string, Family>> = {
  c6i: even(0.38, 2, 0.0425),
  m6i: even(0.38, 4, 0.048),
  r6i: even(0.38, 8, 0.063),
  g4dn: {
    spotFraction: 0.43,
    rows: [
      ["xlarge", 4, 16, 1, 0.526],
      ["2xlarge", 8, 32, 1, 0.752],
      ["4xlarge", 16, 64, 1, 1.204],
      ["8xlarge", 32, 128, 1, 2.176],
      ["12xlarge", 48, 192, 4, 3.912],
      ["16xlarge", 64, 256, 1, 4.352],
      ["metal", 96, 384, 8, 7.824],
    ],
  },
  g5: {
    spotFraction: 0.43,
    rows: [
      ["xlarge", 4, 16, 1, 1.006],
      ["2xlarge", 8, 32, 1, 1.212],
      ["4xlarge", 16, 64, 1, 1.624],
      ["8xlarge", 32, 128, 1, 2.448],
      ["12xlarge", 48, 192, 4, 5.672],
      ["16xlarge", 64, 256, 1, 4.096],
      ["24xlarge", 96, 384, 4, 8.144],
      ["48xlarge", 192, 768, 8, 16.288],
    ],
  },
  g6: {
    spotFraction: 0.43,
    rows: [
      ["xlarge", 4, 16, 1, 0.8048],
      ["2xlarge", 8, 32, 1, 0.9776],
      ["4xlarge", 16, 64, 1, 1.3232],
      ["8xlarge", 32, 128, 1, 2.0144],
      ["12xlarge", 48, 192, 4, 4.6016],
      ["16xlarge", 64, 256, 1, 3.3968],
      ["24xlarge", 96, 384, 4, 6.6752],
      ["48xlarge", 192, 768, 8, 13.3504],
    ],
  },
  gr6: {
    spotFraction: 0.43,
    rows: [
      ["4xlarge", 16, 128, 1, 1.5392],
      ["8xlarge", 32, 256, 1, 2.4464],
    ],
  },
  g6e: {
    spotFraction: 0.43,
    rows: [
      ["xlarge", 4, 32, 1, 1.861],
      ["2xlarge", 8, 64, 1, 2.24208],
      ["4xlarge", 16, 128, 1, 3.00424],
      ["8xlarge", 32, 256, 1, 4.52856],
      ["12xlarge", 48, 384, 4, 10.49264],
      ["16xlarge", 64, 512, 1, 7.57719],
      ["24xlarge", 96, 768, 4, 15.06559],
      ["48xlarge", 192, 1536, 8, 30.13118],
    ],
  },
  p4d: { spotFraction: 0.5, rows: [["24xlarge", 96, 1152, 8, 21.957642]] },
  p4de: { spotFraction: 0.5, rows: [["24xlarge", 96, 1152, 8, 27.44705]] },
  p5: {
    spotFraction: 0.5,
    rows: [
      ["4xlarge", 16, 256, 1, 6.88],
      ["48xlarge", 192, 2048, 8, 55.04],
    ],
  },
};

export const instancePrices: readonly InstancePrice[] = Object.entries(families).flatMap(
  ([family, { spotFraction, rows }]) =>
    rows.map(([size, vcpus, memoryGib, gpus, onDemand]) => ({
      instanceType: `${family}.${size}`,
      vcpus,
      memoryGib,
      gpus,
      onDemandUsdPerHour: rounded(onDemand),
      spotUsdPerHourEstimate: rounded(onDemand * spotFraction),
    })),
);

const byType: ReadonlyMap<string, InstancePrice> = new Map(instancePrices.map((price) => [price.instanceType, price]));

/** Returns `undefined` for a type that is not in the table. There is then no estimate; it must not be zero. */
export function instancePriceOf(instanceType: string): InstancePrice | undefined {
  return byType.get(instanceType);
}

/** Rounds to half a hundredth of a cent, which removes the rounding noise of the multiplication. */
function rounded(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

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

type GpuClass = keyof typeof familiesByClass;

export const gpuClasses = Object.keys(familiesByClass) as [GpuClass, ...GpuClass[]];
export const gpuFamilies: readonly string[] = Object.values(familiesByClass).flat();

export function gpuClassOf(family: string): GpuClass | undefined {
  return gpuClasses.find((name) => (familiesByClass[name] as readonly string[]).includes(family));
}

export function gpuClassesIn(families: readonly string[]): readonly GpuClass[] {
  return [...new Set(families.flatMap((family) => gpuClassOf(family) ?? []))];
}

/** Part of an instance's memory that jobs can have: the system and the agent take the rest. An estimate. */
const usableMemory = 0.95;

export interface HostNeed {
  readonly gpus: number;
  readonly vcpus: number;
  readonly memoryMb: number;
}

/** Returns whether an instance of the class has these resources. @param gpuClass `undefined`: of any class */
export function fitsHost(gpuClass: GpuClass | undefined, need: HostNeed): boolean {
  return hostsFor(gpuClass, need).length > 0;
}

export function gpusOfSmallestHost(gpuClass: GpuClass, need: HostNeed): number {
  return Math.min(...hostsFor(gpuClass, need).map(({ gpus }) => gpus));
}

function hostsFor(gpuClass: GpuClass | undefined, { gpus, vcpus, memoryMb }: HostNeed): readonly InstancePrice[] {
  return instancePrices.filter((host) => {
    const hostClass = gpuClassOf(host.instanceType.split(".")[0]!);
    if (hostClass === undefined || (gpuClass ?? hostClass) !== hostClass) return false;
    return gpus <= host.gpus && vcpus <= host.vcpus && memoryMb <= host.memoryGib * 1024 * usableMemory;
  });
}
