/** Starts of a worker's process in a shared container, after which the container ends and Batch's attempts follow. */
export const startsPerContainer = 3;

/** A worker's place in a container with several workers. */
export interface HostPlace {
  /** Index of the worker within its container. */
  readonly worker: number;
  /** Number of the process's start within its container, from 1. */
  readonly start: number;
}

/**
 * Returns the id of a worker's process: `<job>/<attempt>`, or `<job>.<worker>/<number>` in a container with several
 * workers. A later process of the same worker has a higher number.
 * @param job id of the container's job, `<job>:<index>` or `<job>#<index>` in an array or a gang
 * @param attempt Batch's attempt, from 1
 */
export function memberIdOf(job: string, attempt: number, place?: HostPlace): string {
  if (!place) return `${job}/${attempt}`;
  return `${job}.${place.worker}/${(attempt - 1) * startsPerContainer + place.start}`;
}

/** Returns the id of the container that a worker's process runs in, `<job>/<attempt>`. */
export function containerOf(memberId: string): string {
  const [, job, number] = /^(.+)\.\d+\/(\d+)$/.exec(memberId) ?? [];
  return job === undefined ? memberId : `${job}/${Math.ceil(Number(number) / startsPerContainer)}`;
}

export function containerIndexOf(workerIndex: number, workersPerHost: number): number {
  return Math.floor(workerIndex / workersPerHost);
}
