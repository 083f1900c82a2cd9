import { inheritedEnvironment } from "../inherited-environment";
import { toRecord } from "./container";
import type { ImageConfig, Job } from "./types";

export interface Placement {
  readonly queue: string;
  readonly computeEnvironment: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}

/**
 * Builds a container's whole environment: the image's variables, then the job's, then Batch's own, which override the
 * others.
 */
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
    // Only children get the address, because the main node starts before the address is known.
    ...(job.index === mainNode ? {} : { AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: "127.0.0.1" }),
  };
}

/** Finds an image by its whole name, or else by its name without registry and tag. */
export function findImage(images: Readonly<Record<string, ImageConfig>>, name: string): ImageConfig | undefined {
  const short = name.split("/").at(-1)!.split(/[:@]/)[0]!;
  const key = [name, short].find((candidate) => Object.hasOwn(images, candidate));
  return key === undefined ? undefined : images[key];
}
