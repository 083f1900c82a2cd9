import { instancePriceOf, instancePrices } from "../../../core/metering/prices";

it.each([
  ["c6i.large", { vcpus: 2, memoryGib: 4, gpus: 0, onDemandUsdPerHour: 0.085, spotUsdPerHourEstimate: 0.0323 }],
  ["m6i.4xlarge", { vcpus: 16, memoryGib: 64, gpus: 0, onDemandUsdPerHour: 0.768, spotUsdPerHourEstimate: 0.29184 }],
  [
    "r6i.32xlarge",
    { vcpus: 128, memoryGib: 1024, gpus: 0, onDemandUsdPerHour: 8.064, spotUsdPerHourEstimate: 3.06432 },
  ],
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
