import type { Clock } from "../clock";
import type { EmittedEvent } from "../service";
import { describeJob, needOfJob, type StatusSummary } from "./describe";
import { jobArn } from "./names";
import type { Store } from "./store";
import { isFinal, type Job, type JobStatus } from "./types";

const keyPrefix = "job!";
/** The time after its end when Batch deletes a job. */
const keptMs = 7 * 24 * 3_600_000;

/** All jobs. `move` and `update` write each change to disk, and `move` publishes each change of state. */
export class JobBook {
  private readonly jobs = new Map<string, Job>();
  private readonly summaries = new Map<string, Partial<Record<JobStatus, number>>>();

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  load(rows: ReadonlyMap<string, unknown>): void {
    const expired = new Set<string>();
    for (const [key, value] of rows) {
      if (!key.startsWith(keyPrefix)) continue;
      const job = value as Job;
      this.jobs.set(job.jobId, job);
      if (!job.parent && isFinal(job.status) && (job.stoppedAt ?? 0) < this.clock.now() - keptMs)
        expired.add(job.jobId);
    }
    for (const job of [...this.jobs.values()]) {
      if (expired.has(job.parent ?? job.jobId)) {
        this.jobs.delete(job.jobId);
        this.store.delete(keyPrefix + job.jobId);
      } else this.count(job, 1);
    }
  }

  add(job: Job): void {
    this.jobs.set(job.jobId, job);
    this.count(job, 1);
    this.save(job, true);
  }

  /** Changes the state of a job, and other fields with it. */
  move(job: Job, status: JobStatus, changes: Partial<Job> = {}): void {
    this.count(job, -1);
    Object.assign(job, changes, { status });
    if (isFinal(status)) job.stoppedAt ??= this.clock.now();
    this.count(job, 1);
    this.save(job, true);
  }

  /** Changes fields without a change of state, so no event is published. */
  update(job: Job, changes: Partial<Job>): void {
    Object.assign(job, changes);
    this.save(job, false);
  }

  get(jobId: string): Job | undefined {
    return this.jobs.get(jobId);
  }

  all(): IterableIterator<Job> {
    return this.jobs.values();
  }

  /** Returns the children of an array or of a multi-node job, in order. */
  children(job: Job): readonly Job[] {
    if (job.kind !== "array" && job.kind !== "multi-node") return [];
    const mark = job.kind === "array" ? ":" : "#";
    return Array.from({ length: job.size ?? 0 }, (_, index) => this.jobs.get(`${job.jobId}${mark}${index}`)!);
  }

  summary(job: Job): StatusSummary {
    return this.summaries.get(job.jobId) ?? {};
  }

  describe(job: Job): Record<string, unknown> {
    return describeJob(job, this.summary(job));
  }

  need(job: Job): ReturnType<typeof needOfJob> {
    return needOfJob(job, this.children(job));
  }

  private count(job: Job, by: 1 | -1): void {
    if (job.kind !== "array-child") return;
    const summary = this.summaries.get(job.parent!) ?? {};
    summary[job.status] = (summary[job.status] ?? 0) + by;
    this.summaries.set(job.parent!, summary);
  }

  private save(job: Job, announced: boolean): void {
    this.store.put(keyPrefix + job.jobId, job, announced ? this.event(job) : undefined);
  }

  /**
   * Builds the event of a job. It contains a copy, because the event must show the state that was entered, not the
   * latest.
   */
  private event(job: Job): EmittedEvent {
    return {
      source: "aws.batch",
      detailType: "Batch Job State Change",
      resources: [jobArn(job.jobId)],
      detail: structuredClone(this.describe(job)),
    };
  }
}
