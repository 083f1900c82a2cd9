import {
  BatchClient,
  type DescribeJobDefinitionsCommandInput,
  type SubmitJobCommandInput,
} from "@aws-sdk/client-batch";
import { createTrainingJobs, workerJobsOf } from "../../../adapters/batch/training-jobs";
import type { JobRequest } from "../../../core/runs/ports";
import { localConfig } from "../../../stack/settings";

async function submitted(
  request: Partial<JobRequest>,
  teamShares = {},
  gpuClasses: readonly string[] = [],
): Promise<SubmitJobCommandInput> {
  let input: SubmitJobCommandInput | undefined;
  const client = new BatchClient({ region: "us-east-1" });
  client.send = async (command: { readonly input: SubmitJobCommandInput }) => {
    input = command.input;
    return { jobId: "job-1" };
  };
  const keys = { keyOf: async () => "key" };
  const jobs = createTrainingJobs(client, client, { ...localConfig(), teamShares, gpuClasses }, keys, { now: () => 0 });
  await jobs.submit({
    runId: "run-1",
    team: "default",
    attempt: 1,
    workers: 1,
    market: "spot",
    placement: "spread",
    gpusPerWorker: 0,
    vcpusPerWorker: 4,
    memoryMbPerWorker: 8_192,
    ...request,
  });
  client.destroy();
  return input!;
}

const cluster = { market: "on-demand", placement: "cluster" } as const;
const definitions = { single: "ringmaster-trainer:3", gang: "ringmaster-trainer-gang:4" };

it.each<[Partial<JobRequest>, string, string]>([
  [{ market: "spot" }, "ringmaster-spot", "ringmaster-trainer"],
  [{ market: "spot", gpusPerWorker: 1, workers: 4 }, "ringmaster-spot-gpu", "ringmaster-trainer"],
  [{ market: "on-demand" }, "ringmaster-on-demand", "ringmaster-trainer"],
  [{ market: "on-demand", gpusPerWorker: 1 }, "ringmaster-on-demand-gpu", "ringmaster-trainer"],
  [{ ...cluster, workers: 2 }, "ringmaster-cluster", "ringmaster-trainer-gang"],
  [{ ...cluster, gpusPerWorker: 1, workers: 2 }, "ringmaster-cluster-gpu", "ringmaster-trainer-gang"],
  [{ workers: 2, definitions }, "ringmaster-spot", "ringmaster-trainer:3"],
  [{ ...cluster, workers: 2, definitions }, "ringmaster-cluster", "ringmaster-trainer-gang:4"],
])("submits %j to %s as %s", async (request, jobQueue, jobDefinition) => {
  expect(await submitted(request)).toMatchObject({ jobName: "run-1-1", jobQueue, jobDefinition });
});

it.each<[string, Partial<JobRequest>, object]>([
  [
    "an array of hosts",
    { market: "spot", placement: "spread", workers: 16 },
    { arrayProperties: { size: 2 }, jobDefinition: "ringmaster-trainer" },
  ],
  ["a plain job of one host", { market: "spot", placement: "spread", workers: 8 }, { arrayProperties: undefined }],
  [
    "a cluster of hosts",
    { market: "on-demand", placement: "cluster", workers: 16 },
    { nodeOverrides: { numNodes: 2 }, jobDefinition: "ringmaster-trainer-gang" },
  ],
])("submits eight workers per host as %s, each with the resources of eight", async (_name, request, expected) => {
  const input = await submitted({ ...request, workersPerHost: 8, gpusPerWorker: 1 });
  expect(input).toMatchObject(expected);
  const overrides = input.containerOverrides ?? input.nodeOverrides?.nodePropertyOverrides?.[0]?.containerOverrides;
  expect(overrides?.environment).toContainEqual({ name: "RINGMASTER_HOST_WORKERS", value: "8" });
  expect(overrides?.resourceRequirements).toEqual([
    { type: "VCPU", value: "32" },
    { type: "MEMORY", value: "65536" },
    { type: "GPU", value: "8" },
  ]);
});

it("finds the workers' jobs of containers", () => {
  const hosts = { ...cluster, workers: 16, workersPerHost: 8 };
  expect(workerJobsOf("j", hosts)).toEqual(["j#0", "j#1"]);
  expect(workerJobsOf("j", { ...hosts, placement: "spread" })).toEqual(["j:0", "j:1"]);
  expect(workerJobsOf("j", { ...hosts, placement: "spread", workers: 8 })).toEqual(["j"]);
});

it.each([
  [undefined, ["L4", "A100-80GB"], "ringmaster-spot-gpu"],
  ["L4", ["L4", "A100-80GB"], "ringmaster-spot-gpu"],
  ["A100-80GB", ["L4", "A100-80GB"], "ringmaster-spot-gpu-a100-80gb"],
  ["T4", [], "ringmaster-spot-gpu"],
])("submits GPUs of class %s, where the deployment names %j, to %s", async (gpuClass, classes, jobQueue) => {
  const request = { gpusPerWorker: 1, ...(gpuClass === undefined ? {} : { gpuClass }) };
  expect(await submitted(request, {}, classes)).toMatchObject({ jobQueue });
});

it("names the team's share, which a fair-share queue requires", async () => {
  expect(await submitted({ team: "ml-2" })).toMatchObject({ shareIdentifier: "mlX2", schedulingPriorityOverride: 0 });
  expect(await submitted({ team: "ml-2" }, { "ml-2": { share: "text", priority: 9 } })).toMatchObject({
    shareIdentifier: "text",
    schedulingPriorityOverride: 9,
  });
});

it("finds the newest active revision over all pages, and knows it for a minute", async () => {
  const client = new BatchClient({ region: "us-east-1" });
  const requested: string[] = [];
  client.send = async ({ input }: { readonly input: DescribeJobDefinitionsCommandInput }) => {
    const { jobDefinitionName = "", nextToken, status } = input;
    requested.push(`${jobDefinitionName} ${status} ${nextToken ?? ""}`);
    if (jobDefinitionName.endsWith("gang")) return { jobDefinitions: [] };
    return nextToken
      ? { jobDefinitions: [{ revision: 12 }, { revision: 2 }] }
      : { jobDefinitions: [{ revision: 9 }], nextToken: "more" };
  };
  let time = 0;
  const config = { ...localConfig(), teamShares: {} };
  const jobs = createTrainingJobs(client, client, config, { keyOf: async () => "" }, { now: () => time });
  const definitions = { single: "ringmaster-trainer:12", gang: "ringmaster-trainer-gang" };
  expect(await jobs.definitions()).toEqual(definitions);
  time = 59_999;
  expect(await jobs.definitions()).toEqual(definitions);
  expect(requested.sort()).toEqual([
    "ringmaster-trainer ACTIVE ",
    "ringmaster-trainer ACTIVE more",
    "ringmaster-trainer-gang ACTIVE ",
  ]);
  time = 60_000;
  await jobs.definitions();
  expect(requested.length).toBe(6);
});
