import type { Clock } from "../clock";
import type { EmittedEvent } from "../service";
import { describeJob, needOfJob, type StatusSummary } from "./describe";
import { jobArn } from "./names";
import type { Store } from "./store";
import { isFinal, type Job, type JobStatus, type ListedJob } from "./types";

const keyPrefix = "job!";
/** The time after its end when Batch deletes a job. */
const keptMs = 7 * 24 * 3_600_000;

/**
 * All jobs. `move` and `update` write each change to disk, and `move` publishes each change of state. Jobs that have not
 * ended are in memory, with their parents and siblings. Of an ended job only what ListJobs needs is in memory; the rest
 * is read from disk.
 */
export class JobBook {
  private readonly active = new Map<string, Job>();
  private readonly ended = new Map<string, ListedJob>();
  private readonly summaries = new Map<string, Partial<Record<JobStatus, number>>>();

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  load(rows: ReadonlyMap<string, unknown>): void {
    for (const [key, value] of rows) {
      if (!key.startsWith(keyPrefix)) continue;
      const job = value as Job;
      this.active.set(job.jobId, job);
      this.count(job, 1);
    }
    for (const job of [...this.active.values()]) {
      const family = job.parent ? [] : [job, ...this.children(job)];
      if (family.length === 0 || !family.every(({ status }) => isFinal(status))) continue;
      this.release(family);
      if ((job.stoppedAt ?? 0) >= this.clock.now() - keptMs) continue;
      this.ended.delete(job.jobId);
      for (const { jobId } of family) this.store.delete(keyPrefix + jobId);
    }
  }

  add(job: Job): void {
    this.active.set(job.jobId, job);
    this.count(job, 1);
    this.save(job, true);
  }

  move(job: Job, status: JobStatus, changes: Partial<Job> = {}): void {
    this.count(job, -1);
    Object.assign(job, changes, { status });
    if (isFinal(status)) job.stoppedAt ??= this.clock.now();
    this.count(job, 1);
    this.save(job, true);
    if (isFinal(status)) this.releaseOnceWritten(job);
  }

  update(job: Job, changes: Partial<Job>): void {
    Object.assign(job, changes);
    this.active.set(job.jobId, job);
    this.ended.delete(job.jobId);
    this.save(job, false);
    if (isFinal(job.status)) this.releaseOnceWritten(job);
  }

  get(jobId: string): Job | undefined {
    return this.active.get(jobId) ?? (this.store.get(keyPrefix + jobId) as Job | undefined);
  }

  /** Returns the jobs that have not ended, with their parents and siblings. */
  current(): IterableIterator<Job> {
    return this.active.values();
  }

  *listed(): Generator<ListedJob> {
    for (const job of this.active.values()) if (!job.parent) yield job;
    yield* this.ended.values();
  }

  children(job: Job): readonly Job[] {
    if (job.kind !== "array" && job.kind !== "multi-node") return [];
    const mark = job.kind === "array" ? ":" : "#";
    return Array.from({ length: job.size ?? 0 }, (_, index) => this.get(`${job.jobId}${mark}${index}`)!);
  }

  summary(job: Job): StatusSummary {
    const stored = this.summaries.get(job.jobId);
    if (stored || job.kind !== "array" || !isFinal(job.status)) return stored ?? {};
    const summary: Partial<Record<JobStatus, number>> = {};
    for (const { status } of this.children(job)) summary[status] = (summary[status] ?? 0) + 1;
    return summary;
  }

  describe(job: Job): Record<string, unknown> {
    return describeJob(job, this.summary(job));
  }

  need(job: Job): ReturnType<typeof needOfJob> {
    return needOfJob(job, this.children(job));
  }

  private releaseOnceWritten(job: Job): void {
    const top = job.parent ? this.get(job.parent) : job;
    if (!top || !isFinal(top.status)) return;
    const family = () => [top, ...this.children(top)];
    if (!family().every(({ status }) => isFinal(status))) return;
    this.store.flush().then(
      () => this.release(family()),
      // The next call that needs the disk reports it.
      () => undefined,
    );
  }

  private release(family: readonly Job[]): void {
    for (const { jobId } of family) this.active.delete(jobId);
    const [{ attempts, containerProperties, nodeProperties, parameters, retryStrategy, tags, ...listed }] =
      family as readonly [Job];
    this.summaries.delete(listed.jobId);
    this.ended.set(listed.jobId, listed);
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
