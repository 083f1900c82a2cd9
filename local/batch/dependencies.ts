import type { JobBook } from "./job-book";
import { isFinal, type Job } from "./types";

export type Readiness = "ready" | "waiting" | "failed";

/**
 * The dependencies between jobs. A job runs when every job that it depends on has succeeded, and fails when one of them
 * has failed. A child of an `N_TO_N` dependent waits for the child with the same index. A child of a `SEQUENTIAL` array
 * waits for the previous child. Any other dependent waits for the whole array.
 */
export class Dependencies {
  private readonly waiters = new Map<string, Set<string>>();

  constructor(private readonly book: JobBook) {}

  /** Returns whether the job can run now. A waiting job is found again by `dependents`. */
  readiness(job: Job): Readiness {
    const blockers = this.blockers(job);
    for (const id of blockers) {
      const blocker = this.book.get(id);
      if (!blocker || isFinal(blocker.status)) continue;
      const waiters = this.waiters.get(id) ?? new Set();
      this.waiters.set(id, waiters.add(job.jobId));
    }
    const states = blockers.map((id) => this.book.get(id)?.status ?? "FAILED");
    if (states.includes("FAILED")) return "failed";
    return states.every((status) => status === "SUCCEEDED") ? "ready" : "waiting";
  }

  /** Returns the jobs to check again after this one has ended. */
  dependents(ended: Job): readonly Job[] {
    const ids = this.waiters.get(ended.jobId) ?? [];
    this.waiters.delete(ended.jobId);
    return [...ids].map((id) => this.book.get(id)).filter((job): job is Job => !!job && !isFinal(job.status));
  }

  private blockers(job: Job): readonly string[] {
    const { dependsOn } = job.parent ? this.book.get(job.parent)! : job;
    return dependsOn.flatMap(({ jobId, type }) => {
      if (type === "SEQUENTIAL") return job.index ? [`${job.parent}:${job.index - 1}`] : [];
      if (type === "N_TO_N" && job.index !== undefined) return [`${jobId}:${job.index}`];
      return [jobId!];
    });
  }
}
