import { inheritedEnvironment } from "../inherited-environment";
import { toRecord } from "./container";
import type { ImageConfig, Job } from "./types";

export interface Placement {
  readonly queue: string;
  readonly computeEnvironment: string;
  /** 1 for the first. */
  readonly attempt: number;
}

/** A container's whole environment: the image's, the job's, then Batch's own, which nothing overrides. */
export function containerEnvironment(job: Job, image: ImageConfig, placement: Placement): Record<string, string> {
  return {
    ...inheritedEnvironment(),
    ...image.environment,
    ...toRecord(job.containerProperties?.environment),
    AWS_BATCH_JOB_ID: job.jobId,
    AWS_BATCH_JOB_ATTEMPT: String(placement.attempt),
    AWS_BATCH_JQ_NAME: placement.queue,
    AWS_BATCH_CE_NAME: placement.computeEnvironment,
    ...childEnvironment(job),
  };
}

function childEnvironment(job: Job): Record<string, string> {
  if (job.kind === "array-child") {
    return { AWS_BATCH_JOB_ARRAY_INDEX: String(job.index), AWS_BATCH_JOB_ARRAY_SIZE: String(job.size) };
  }
  if (job.kind !== "node") return {};
  const mainNode = job.mainNode ?? 0;
  return {
    AWS_BATCH_JOB_NUM_NODES: String(job.size),
    AWS_BATCH_JOB_NODE_INDEX: String(job.index),
    AWS_BATCH_JOB_MAIN_NODE_INDEX: String(mainNode),
    // Only children are told: the main node runs before anybody could know.
    ...(job.index === mainNode ? {} : { AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: "127.0.0.1" }),
  };
}

/** An image by its whole name, else by its name without registry and tag. */
export function findImage(images: Readonly<Record<string, ImageConfig>>, name: string): ImageConfig | undefined {
  const short = name.split("/").at(-1)!.split(/[:@]/)[0]!;
  const key = [name, short].find((candidate) => Object.hasOwn(images, candidate));
  return key === undefined ? undefined : images[key];
}
