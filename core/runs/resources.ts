import * as z from "zod";
import { fitsHost, gpuClasses, type HostNeed } from "../metering/prices";

/** MiB. With a GPU, the CUDA libraries and the copies of transfers take more than 2 GiB of a worker's own memory. */
const memoryMbDefaults = { cpu: 2_048, gpu: 8_192 } as const;
const minMemoryMbWithGpu = 4_096;

/** The GPUs of each host. */
const gpu = z.strictObject({
  /** The GPU's model. Default: that of the deployment's first family. */
  class: z.enum(gpuClasses).optional(),
  /** Number of GPUs of one host, each with a worker. Default 1. */
  count: z.int().min(1).max(8).optional(),
});

const resourceFields = z.strictObject({
  workers: z.int().min(1).max(1_000).default(1),
  minWorkers: z.int().min(1).max(1_000).default(1),
  /** A worker is one process with at most one GPU. More GPUs need more workers. Default: 1 where `gpu` is given, else 0. */
  gpusPerWorker: z.int().min(0).max(1).default(0),
  gpu: gpu.optional(),
  /**
   * Permits GPUs to round the factors of float32 products to TF32: faster, with other weights. Only with GPUs. Default
   * false.
   */
  tf32: z.boolean().optional(),
  vcpusPerWorker: z.int().min(1).max(192).default(1),
  /** Default: 2,048 without a GPU, 8,192 with one. */
  memoryMbPerWorker: z.int().min(512).max(1_572_864).default(memoryMbDefaults.cpu),
  market: z.enum(["spot", "on-demand"]).default("spot"),
  /**
   * `spread`: workers run on any hosts of all zones, and training begins with some of them. `cluster`: their hosts start
   * together, close to each other in one zone; only on-demand. Default `spread`.
   */
  placement: z.enum(["spread", "cluster"]).optional(),
  /**
   * With `market: spot`: minutes that a run waits for its first worker. After that, it is submitted on-demand. Default 60.
   */
  maxWaitMinutes: z.int().min(1).max(40_320).optional(),
  /**
   * V: the number of micro-batches of each global batch. Part of the run's identity, so it does not follow `workers`: any
   * world size up to V gives the same weights (docs/adr/007-micro-batches.md).
   */
  microBatches: z.int().min(1).max(1_024).default(8),
  /**
   * Divides the optimizer's state among the workers (docs/adr/015-sharded-optimizer.md). The weights are bit-identical
   * in both cases.
   */
  shardOptimizer: z.boolean().default(false),
  backend: z.enum(["auto", "native", "wasm"]).default("auto"),
});

const checkedResources = resourceFields
  .refine(({ gpusPerWorker, memoryMbPerWorker }) => gpusPerWorker === 0 || memoryMbPerWorker >= minMemoryMbWithGpu, {
    path: ["memoryMbPerWorker"],
    error: `must be at least ${minMemoryMbWithGpu} where resources.gpusPerWorker is above 0: TensorFlow's GPU libraries need it. Leave it out for ${memoryMbDefaults.gpu}`,
  })
  .check(({ value, issues }) => {
    const { gpu, gpusPerWorker, workers } = value;
    if (!gpu) return;
    const add = (path: string[], input: unknown, message: string) =>
      issues.push({ code: "custom", path, input, message });
    if (gpusPerWorker === 0) add(["gpusPerWorker"], 0, "must be 1 or left out where resources.gpu is given");
    const rule = workersProblem(workers, value);
    if (rule) add(["workers"], workers, rule);
    const count = workersPerHost(value);
    const need = hostNeedOf(value);
    if (fitsHost(gpu.class, need)) return;
    const hosts = gpu.class === undefined ? "host" : `host with ${gpu.class}`;
    const sizes = `${need.vcpus} vCPUs and ${need.memoryMb} MiB of memory in all`;
    add(["gpu"], gpu, `must fit a host: no ${hosts} has ${count} GPUs with ${sizes} (docs/gpu.md lists the hosts)`);
  })
  .refine(({ placement, market }) => placement !== "cluster" || market === "on-demand", {
    path: ["placement"],
    error:
      "must be spread or left out where resources.market is spot: a multi-node job of AWS Batch does not run on spot. Set market to on-demand",
  })
  .check(({ value: { tf32, gpusPerWorker }, issues }) => {
    if (tf32 !== true || gpusPerWorker > 0) return;
    const message =
      "must be false or left out where resources.gpusPerWorker is 0: only GPUs compute with TF32. Set gpusPerWorker to 1";
    issues.push({ code: "custom", path: ["tf32"], input: tf32, message });
  })
  .overwrite((value) => (value.gpusPerWorker > 0 ? { ...value, tf32: value.tf32 ?? false } : value));

const countedGpus = z.looseObject({ gpu: z.looseObject({ count: z.unknown().optional() }).optional() });

/** Defaults of fields depend on others. The cast keeps the types, which `preprocess` widens to unknown input. */
export const resourcesSchema = z.preprocess(withDefaults, checkedResources) as unknown as typeof checkedResources;

function withDefaults(input: unknown): unknown {
  const parsed = countedGpus.safeParse(input);
  if (!parsed.success) return input;
  const { gpu: gpus } = parsed.data;
  const fields = {
    ...(gpus ? { gpusPerWorker: 1 } : {}),
    ...(typeof gpus?.count === "number" ? { workers: gpus.count } : {}),
    ...parsed.data,
  };
  if ("memoryMbPerWorker" in fields || !("gpusPerWorker" in fields) || fields.gpusPerWorker === 0) return fields;
  return { ...fields, memoryMbPerWorker: memoryMbDefaults.gpu };
}

export function workersPerHost({
  gpu,
}: {
  readonly gpu?: { readonly count?: number | undefined } | undefined;
}): number {
  return gpu?.count ?? 1;
}

export function hostNeedOf(resources: {
  readonly gpu?: { readonly count?: number | undefined } | undefined;
  readonly gpusPerWorker: number;
  readonly vcpusPerWorker: number;
  readonly memoryMbPerWorker: number;
}): HostNeed {
  const { gpusPerWorker, vcpusPerWorker, memoryMbPerWorker } = resources;
  const count = workersPerHost(resources);
  return { gpus: count * gpusPerWorker, vcpus: count * vcpusPerWorker, memoryMb: count * memoryMbPerWorker };
}

/** Returns what is wrong with a number of workers, as the end of the sentence "`workers` must …". */
export function workersProblem(workers: number, resources: Parameters<typeof workersPerHost>[0]): string | undefined {
  const count = workersPerHost(resources);
  if (workers % count === 0) return undefined;
  return `must be a multiple of resources.gpu.count (${count}), because each host has so many workers`;
}
