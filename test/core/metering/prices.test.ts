import type { DatasetManifest } from "../../../core/datasets/shapes";
import {
  fitsHost,
  gpuClasses,
  gpuClassesIn,
  gpuClassOf,
  gpuFamilies,
  instancePriceOf,
  instancePrices,
} from "../../../core/metering/prices";
import { jobSchema } from "../../../core/runs/job";
import { deploymentProblems, jobWarnings } from "../../../core/training/job-checks";
import { jobInput } from "../../support/fixtures";

it.each([
  ["c6i.large", { vcpus: 2, memoryGib: 4, gpus: 0, onDemandUsdPerHour: 0.085, spotUsdPerHourEstimate: 0.0323 }],
  ["m6i.4xlarge", { vcpus: 16, memoryGib: 64, gpus: 0, onDemandUsdPerHour: 0.768, spotUsdPerHourEstimate: 0.29184 }],
  ["g5.12xlarge", { vcpus: 48, memoryGib: 192, gpus: 4, onDemandUsdPerHour: 5.672, spotUsdPerHourEstimate: 2.43896 }],
])("prices %s", (instanceType, expected) => {
  expect(instancePriceOf(instanceType)).toEqual({ instanceType, ...expected });
});

it("does not make up a price", () => {
  expect(instancePriceOf("z9.huge")).toBeUndefined();
});

it("names each type once, and no spot instance above its on-demand price", () => {
  expect(new Set(instancePrices.map(({ instanceType }) => instanceType)).size).toBe(instancePrices.length);
  for (const { spotUsdPerHourEstimate, onDemandUsdPerHour } of instancePrices) {
    expect(spotUsdPerHourEstimate).toBeGreaterThan(0);
    expect(spotUsdPerHourEstimate).toBeLessThan(onDemandUsdPerHour);
  }
});

it("has a class for each family with prices of GPUs, and prices of each family", () => {
  const priced = instancePrices.filter(({ gpus }) => gpus > 0).map(({ instanceType }) => instanceType.split(".")[0]!);
  expect(new Set(priced)).toEqual(new Set(gpuFamilies));
  expect(gpuClassesIn(gpuFamilies)).toEqual(gpuClasses);
  expect(gpuClassesIn(["g6", "g5", "gr6"])).toEqual(["L4", "A10G"]);
  expect(gpuClassOf("p3")).toBeUndefined();
});

// g5.48xlarge: 8 GPUs, 192 vCPUs, 768 GiB, of which jobs can have 95 % (747,110 MiB). p4d.24xlarge: 8 GPUs, 96 vCPUs.
it.each([
  ["A10G", 8, 192, 747_000, true],
  ["A10G", 8, 192, 748_000, false],
  ["A100", 8, 96, 8_192, true],
  ["A100", 8, 104, 8_192, false],
  [undefined, 8, 104, 8_192, true],
  [undefined, 9, 9, 8_192, false],
] as const)("a host of class %s with %d GPUs, %d vCPUs and %d MiB exists: %s", (name, gpus, vcpus, memoryMb, fits) => {
  expect(fitsHost(name, { gpus, vcpus, memoryMb })).toBe(fits);
});

it("refuses a GPU class that the deployment does not have, and takes any where it names none", () => {
  const { resources } = jobSchema.parse(jobInput({ resources: { gpu: { class: "L4" } } }));
  const rule = expect.stringMatching(/^must be a GPU class of this deployment \(A10G, T4\)/);
  expect(deploymentProblems({ resources }, { gpuClasses: ["A10G", "T4"] })).toEqual([
    { path: "resources.gpu.class", value: "L4", rule },
  ]);
  for (const gpuClasses of [[], ["A10G", "L4"]]) expect(deploymentProblems({ resources }, { gpuClasses })).toEqual([]);
});

it.each([
  ["A100", 1, "cluster", "7 of each node's GPUs are idle, and paid. Set count to 8, or placement to spread."],
  ["L4", 2, "cluster", "2 of each node's GPUs are idle"],
  ["L4", 1, "cluster", undefined],
  ["A100", 8, "cluster", undefined],
  ["A100", 1, "spread", undefined],
] as const)("warns of idle GPUs: %s, %d per host, %s", (name, count, placement, warning) => {
  const resources = { gpu: { class: name, count }, placement, market: "on-demand" } as const;
  const job = jobSchema.parse(jobInput({ resources }));
  const manifest = { split: { indexes: { train: { rows: 1_000 } } } } as DatasetManifest;
  const messages = jobWarnings(manifest, job).map(({ message }) => message);
  expect(messages).toEqual(warning === undefined ? [] : [expect.stringContaining(warning)]);
});
