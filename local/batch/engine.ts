import { account, region } from "../account";
import type { Clock } from "../clock";
import type { EventSink } from "../service";
import { clientError } from "./errors";
import { nextByFairShare } from "./fair-share";
import { Gang } from "./gang";
import { killGroup, processStart } from "./host-process";
import type { JobBook } from "./job-book";
import { hostLost, instanceId, isHostLost } from "./names";
import { type Decision, isSpot, type Need, place } from "./placement";
import type { Resources } from "./resources";
import { retries } from "./retry";
import { Runner, type RunnerOptions } from "./runner";
import { JobTimers } from "./timers";
import { type Ending, isFinal, type Job, type JobQueue } from "./types";

export interface EngineOptions extends RunnerOptions {
  readonly clock: Clock;
  readonly events?: EventSink;
  readonly vcpus: number;
  readonly spotNoticeMs: number;
}

interface Placed extends Pick<Need, "vcpus" | "gpus"> {
  readonly job: Job;
}

/** Whether a job was placed in a compute environment, which it keeps until its end. */
const isPlaced = ({ computeEnvironment }: Job) => computeEnvironment !== undefined;
const byAge = (a: Job, b: Job) => a.createdAt - b.createdAt;

const timedOut = "Job attempt duration exceeded timeout";

export class Engine {
  private readonly runner: Runner;
  private readonly gang: Gang;
  private readonly waiting = new Map<string, Map<string, Job>>();
  private readonly placed = new Map<string, Placed>();
  private readonly timers: JobTimers;
  private dispatching = false;
  private closed = false;

  constructor(
    private readonly book: JobBook,
    private readonly resources: Resources,
    private readonly options: EngineOptions,
  ) {
    this.timers = new JobTimers(options.clock);
    this.runner = new Runner(book, options, {
      running: (job) => this.onRunning(job),
      ended: (job, ending) => {
        this.timers.clear(job);
        if (job.kind === "node") this.gang.ended(job, ending);
        else this.settle(job, ending);
      },
    });
    this.gang = new Gang({
      book,
      runner: this.runner,
      startNode: (node, parent) => this.startContainer(node, parent.attempts.length + 1),
      settle: (parent, ending) => this.settle(parent, ending),
    });
  }

  /** Resumes the state that an earlier process left. Queued jobs continue, and running jobs have lost their host. */
  recover(): void {
    for (const job of [...this.book.current()]) {
      if (job.kind === "array" && job.status === "PENDING" && isPlaced(job)) this.hold(job);
      else if (job.status === "RUNNABLE" || job.status === "PENDING") this.wait(job);
      else if (job.status === "SUBMITTED") this.admit(job);
      else if (job.status === "STARTING" || job.status === "RUNNING") this.recoverRunning(job);
    }
    for (const job of [...this.book.current()]) if (job.kind === "array") this.updateArray(job);
    this.dispatch();
  }

  submit(jobs: readonly Job[]): void {
    for (const job of jobs) this.book.add(job);
    for (const job of jobs) this.admit(job);
    this.dispatch();
  }

  terminate(job: Job, reason: string): void {
    if (isFinal(job.status)) return;
    if (job.kind === "array") {
      this.book.update(job, { terminated: reason });
      for (const child of this.book.children(job)) this.terminate(child, reason);
      return;
    }
    this.book.update(job, { terminated: reason });
    if (job.status === "STARTING" || job.status === "RUNNING") this.stop(job, reason);
    else this.end(job, reason);
  }

  /**
   * Interrupts the spot host of a job. It sends the notice to the host's files and the event bus now, and ends the host
   * when the notice period is over.
   */
  interruptSpot(job: Job): void {
    const { clock, events, spotNoticeMs } = this.options;
    const pid = job.container?.pid;
    if (job.status !== "RUNNING" || !this.runner.isRunning(job) || pid === undefined) {
      throw clientError(
        `Job ${job.jobId} is ${job.status} and has no running container of its own, so there is no host to interrupt.`,
      );
    }
    if (!isSpot(this.resources.environment(job.computeEnvironment))) {
      throw clientError(
        `Job ${job.jobId} runs in the on-demand compute environment '${job.computeEnvironment}': only spot hosts are interrupted.`,
      );
    }
    const endsAt = clock.now() + spotNoticeMs;
    const time = new Date(endsAt).toISOString().replace(/\.\d+Z$/, "Z");
    this.book.update(job, { hostInterruption: { time, endsAt } });
    this.runner.announceInterruption(job, time);
    const id = instanceId(pid);
    events?.put({
      source: "aws.ec2",
      detailType: "EC2 Spot Instance Interruption Warning",
      resources: [`arn:aws:ec2:${region}:${account}:instance/${id}`],
      detail: { "instance-id": id, "instance-action": "terminate" },
    });
    this.timers.set(job, "spot", spotNoticeMs, () => this.runner.lose(job));
  }

  dispatch(): void {
    if (this.dispatching || this.closed) return;
    this.dispatching = true;
    queueMicrotask(() => {
      this.dispatching = false;
      if (!this.closed) this.fill();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timers.cancelAll();
    await this.runner.close();
  }

  private admit(job: Job): void {
    this.book.move(job, job.kind === "array" ? "PENDING" : "RUNNABLE");
    this.wait(job);
  }

  private wait(job: Job): void {
    if (job.kind === "node") return;
    if (job.kind === "array" && !this.startsWhole(job)) return;
    const array = job.kind === "array-child" ? this.book.get(job.parent!)! : undefined;
    if (array && this.startsWhole(array)) {
      if (isPlaced(array)) queueMicrotask(() => this.restart(job, array.computeEnvironment!));
      return;
    }
    const waiting = this.waiting.get(job.queue) ?? new Map<string, Job>();
    this.waiting.set(job.queue, waiting.set(job.jobId, job));
  }

  private startsWhole(array: Job): boolean {
    const { length } = this.options.gpus;
    return length === 0 || (this.book.need(array).gpus ?? 0) <= length;
  }

  private restart(child: Job, computeEnvironment: string): void {
    if (!this.closed && child.status === "RUNNABLE") this.start(child, computeEnvironment);
  }

  /**
   * Starts the jobs that fit, by the priority of their queues, then by age. A job that waits for the machine blocks all
   * jobs behind it, because a large gang would starve otherwise. A job that waits for a limit of its queue blocks its
   * queue only.
   */
  private fill(): void {
    /** The ids of jobs that no compute environment of the queue can run. Batch leaves them RUNNABLE. */
    const impossible = new Set<string>();
    const blocked = new Set<JobQueue>();
    for (;;) {
      const heads = this.resources.queuesByPriority().flatMap((queue) => {
        const waiting = [...(this.waiting.get(queue.jobQueueName)?.values() ?? [])]
          .filter(({ jobId }) => !impossible.has(jobId))
          .sort(byAge);
        const job = blocked.has(queue) ? undefined : this.next(queue, waiting);
        return job === undefined ? [] : [{ queue, job }];
      });
      const [head] = heads.sort((a, b) => b.queue.priority - a.queue.priority || byAge(a.job, b.job));
      if (head === undefined) return;
      const { queue, job } = head;
      const decision = this.decide(queue, job);
      if (decision.kind === "wait" && decision.for === "machine") {
        this.explainWait(impossible);
        return;
      }
      if (decision.kind === "wait") blocked.add(queue);
      else if (decision.kind === "never") {
        impossible.add(job.jobId);
        if (job.statusReason !== decision.statusReason) this.book.update(job, { statusReason: decision.statusReason });
      } else {
        this.waiting.get(queue.jobQueueName)?.delete(job.jobId);
        this.start(job, decision.computeEnvironment.computeEnvironmentName);
      }
    }
  }

  private explainWait(impossible: ReadonlySet<string>): void {
    const statusReason = `WORKERS_BUSY: ${this.options.vcpus} vCPUs run workers at once on this machine`;
    for (const job of [...this.waiting.values()].flatMap((jobs) => [...jobs.values()])) {
      if (job.statusReason !== statusReason && !impossible.has(job.jobId)) this.book.update(job, { statusReason });
    }
  }

  private next(queue: JobQueue, waiting: readonly Job[]): Job | undefined {
    const policy = this.resources.fairshare(queue);
    if (!policy) return waiting[0];
    const inUse = new Map<string, number>();
    for (const { job, vcpus } of this.placed.values()) {
      const share = job.shareIdentifier ?? "";
      if (job.queue === queue.jobQueueName) inUse.set(share, (inUse.get(share) ?? 0) + vcpus);
    }
    return nextByFairShare(policy, waiting, inUse);
  }

  private decide(queue: JobQueue, job: Job): Decision {
    const inUse = new Map<string, number>();
    for (const { job: other, vcpus } of this.placed.values()) {
      const name = other.computeEnvironment!;
      inUse.set(name, (inUse.get(name) ?? 0) + vcpus);
    }
    const need = { ...this.book.need(job), multiNode: job.kind === "multi-node" };
    const { vcpus: limit, gpus } = this.options;
    const gpusInUse = [...this.placed.values()].reduce((sum, placed) => sum + (placed.gpus ?? 0), 0);
    const ofGpus = gpus.length === 0 ? {} : { gpus: { inUse: gpusInUse, limit: gpus.length } };
    return place(need, this.resources.environmentsOf(queue), { inUse, limit, ...ofGpus });
  }

  private hold(job: Job): void {
    const array = job.kind === "array-child" ? this.book.get(job.parent!) : undefined;
    if (array === undefined || !isPlaced(array)) this.placed.set(job.jobId, { job, ...this.book.need(job) });
  }

  private start(job: Job, computeEnvironment: string): void {
    const placed = { computeEnvironment, statusReason: undefined };
    this.hold(job);
    if (job.kind === "multi-node") this.gang.start(job, placed);
    else if (job.kind === "array") {
      this.book.update(job, placed);
      for (const child of this.book.children(job)) this.restart(child, computeEnvironment);
    } else {
      this.book.move(job, "STARTING", placed);
      this.startContainer(job, job.attempts.length + 1);
    }
  }

  private startContainer(job: Job, attempt: number): void {
    const computeEnvironment = job.computeEnvironment!;
    const environment = this.resources.environment(computeEnvironment);
    // Families and "optimal" let Batch choose the instance type. There is no other machine to choose from here.
    const instanceType = environment?.computeResources?.instanceTypes?.find((type) => type.includes(".")) ?? "local";
    const placement = { queue: job.queue, computeEnvironment, attempt };
    const { clock } = this.options;
    // A host under notice still takes containers, as on AWS without draining: the worst case for a job.
    const { time, endsAt = 0 } = (isSpot(environment) ? job.hostInterruption : undefined) ?? {};
    if (endsAt <= clock.now()) this.runner.start(job, placement, instanceType);
    else {
      this.runner.start(job, placement, instanceType, time);
      this.timers.set(job, "spot", endsAt - clock.now(), () => this.runner.lose(job));
    }
  }

  private onRunning(job: Job): void {
    const unit = job.kind === "node" ? this.book.get(job.parent!)! : job;
    if (job.kind === "node") this.gang.running(job);
    else this.book.move(job, "RUNNING", { startedAt: job.container?.startedAt, stoppedAt: undefined });
    if (unit.terminated !== undefined) this.stop(unit, unit.terminated);
    // A gang has one deadline, the deadline of its main node. Each child of an array has its own.
    const timed = unit.timeoutSeconds !== undefined && (job.kind !== "node" || job.index === job.mainNode);
    if (timed) this.timers.set(unit, "timeout", unit.timeoutSeconds! * 1000, () => this.stop(unit, timedOut));
  }

  private stop(unit: Job, reason: string): void {
    if (unit.kind === "multi-node") this.gang.stop(unit, reason);
    else this.runner.stop(unit, reason);
  }

  private settle(job: Job, ending: Ending): void {
    this.timers.clear(job);
    this.placed.delete(job.jobId);
    const { statusReason } = ending;
    if (isHostLost(statusReason)) this.book.update(job, { hostInterruption: undefined });
    if (job.terminated !== undefined) this.end(job, job.terminated);
    else if (ending.exitCode === 0 && statusReason !== timedOut) this.conclude(job, "SUCCEEDED", { statusReason });
    // Batch does not retry a job that has timed out.
    else if (statusReason !== timedOut && retries(job.retryStrategy, job.attempts.length, ending)) {
      this.book.move(job, "RUNNABLE", { statusReason, stoppedAt: undefined });
      this.wait(job);
    } else this.conclude(job, "FAILED", { statusReason });
    this.dispatch();
  }

  private end(job: Job, reason: string): void {
    if (job.kind === "multi-node") {
      for (const node of this.book.children(job)) {
        if (!isFinal(node.status)) this.book.move(node, "FAILED", { statusReason: reason });
      }
    }
    this.conclude(job, "FAILED", { statusReason: reason });
    this.dispatch();
  }

  private conclude(job: Job, status: "SUCCEEDED" | "FAILED", changes: Partial<Job>): void {
    this.waiting.get(job.queue)?.delete(job.jobId);
    this.placed.delete(job.jobId);
    this.book.move(job, status, changes);
    if (job.kind === "array-child") this.updateArray(this.book.get(job.parent!)!);
  }

  private updateArray(array: Job): void {
    const { SUCCEEDED = 0, FAILED = 0 } = this.book.summary(array);
    if (isFinal(array.status) || SUCCEEDED + FAILED < array.size!) return;
    const startedAt = Math.min(...this.book.children(array).map((child) => child.startedAt ?? Infinity));
    const started = Number.isFinite(startedAt) ? { startedAt } : {};
    if (FAILED === 0) this.conclude(array, "SUCCEEDED", started);
    else this.conclude(array, "FAILED", { ...started, statusReason: array.terminated ?? "Array Child Job failed" });
  }

  private recoverRunning(job: Job): void {
    const lost = (unit: Job) => {
      const { pid, pidStart } = unit.container ?? {};
      if (pid !== undefined && pidStart !== undefined && processStart(pid) === pidStart) killGroup(pid);
      this.runner.finish(unit, { statusReason: hostLost(instanceId(pid ?? 0)) });
    };
    if (job.kind === "multi-node") this.gang.recover(job, lost);
    else if (job.kind !== "node") lost(job);
  }
}
