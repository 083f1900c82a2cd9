import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { account, region } from "../account";
import type { Clock } from "../clock";
import { inheritedEnvironment } from "../inherited-environment";
import type { LogAppender } from "../service";
import { gpusOf, toRecord } from "./container";
import { type HostEnd, HostProcess, processStart } from "./host-process";
import type { JobBook } from "./job-book";
import { containerInstanceArn, defaultLogGroup, hostLost, instanceId, nameOf } from "./names";
import type { Attempt, Ending, ImageConfig, Job } from "./types";

interface Placement {
  readonly queue: string;
  readonly computeEnvironment: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}

/**
 * Builds a container's whole environment: the image's variables, then the job's, then Batch's own, which override the
 * others.
 */
function containerEnvironment(job: Job, image: ImageConfig, placement: Placement): Record<string, string> {
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

function findImage(images: Readonly<Record<string, ImageConfig>>, name: string): ImageConfig | undefined {
  const short = name.split("/").at(-1)!.split(/[:@]/)[0]!;
  const key = [name, short].find((candidate) => Object.hasOwn(images, candidate));
  return key === undefined ? undefined : images[key];
}

export interface RunnerOptions {
  readonly hostPath: string;
  readonly hostsDirectory: string;
  readonly images: Readonly<Record<string, ImageConfig>>;
  readonly logs?: LogAppender;
  readonly clock: Clock;
  readonly graceMs: number;
  /** GPUs of this machine. Each container sees as many as it requires, and no other container sees them. */
  readonly gpus: readonly string[];
}

export interface RunnerEvents {
  running(job: Job): void;
  ended(job: Job, ending: Ending): void;
}

interface RunningContainer {
  readonly job: Job;
  readonly host: HostProcess;
  readonly hostDirectory: string;
  readonly gpus: readonly string[];
  statusReason?: string;
  cancelGrace?: () => void;
}

const essentialExited = "Essential container in task exited";

export class Runner {
  private readonly containers = new Map<string, RunningContainer>();
  private closing = false;

  constructor(
    private readonly book: JobBook,
    private readonly options: RunnerOptions,
    private readonly events: RunnerEvents,
  ) {}

  start(job: Job, placement: Placement, instanceType: string, interruption?: string): void {
    const { images, hostPath, hostsDirectory, logs } = this.options;
    const taskArn = `arn:aws:ecs:${region}:${account}:task/ringmaster/${randomUUID().replaceAll("-", "")}`;
    const logStreamName = `${nameOf(job.definition).split(":")[0]}/default/${randomUUID().replaceAll("-", "")}`;
    this.book.update(job, { container: { taskArn, logStreamName } });
    const { image: name, command = [] } = job.containerProperties!;
    const image = findImage(images, name);
    if (!image) {
      const reason = `CannotPullContainerError: pull access denied for ${name}, repository does not exist. Images of this stack: ${Object.keys(images).join(", ")}`;
      // Deferred, because the caller has not yet recorded that the job runs.
      queueMicrotask(() => this.finish(job, { reason, statusReason: "Task failed to start" }));
      return;
    }
    const gpus = this.freeGpus().slice(0, gpusOf(job.containerProperties));
    const hostDirectory = join(hostsDirectory, randomUUID());
    const start = {
      type: "start",
      command: [...image.command, ...command],
      environment: { ...containerEnvironment(job, image, placement), ...gpuVariables(gpus) },
      workingDirectory: image.workingDirectory,
      machine: { instanceType, availabilityZone: `${region}a` },
      hostDirectory,
      ...(interruption === undefined ? {} : { interruption }),
    } as const;
    const host = new HostProcess(hostPath, start, {
      onStarted: (pid) => this.onStarted(job, pid),
      onLines: (lines) => logs?.append(logGroupOf(job), logStreamName, lines),
      onEnd: (end) => this.onEnd(job, end),
    });
    this.containers.set(job.jobId, { job, host, hostDirectory, gpus });
  }

  private freeGpus(): readonly string[] {
    const used = new Set([...this.containers.values()].flatMap(({ gpus }) => gpus));
    return this.options.gpus.filter((device) => !used.has(device));
  }

  /** Sends SIGTERM, and SIGKILL after the grace period. The attempt ends with `statusReason`. */
  stop(job: Job, statusReason: string): void {
    const running = this.containers.get(job.jobId);
    if (!running || running.statusReason !== undefined) return;
    running.statusReason = statusReason;
    running.host.signal("SIGTERM");
    running.cancelGrace = this.options.clock.schedule(this.options.graceMs, () => running.host.signal("SIGKILL"));
  }

  announceInterruption(job: Job, time: string): void {
    this.containers.get(job.jobId)?.host.interrupt(time);
  }

  lose(job: Job): void {
    void this.containers.get(job.jobId)?.host.lose();
  }

  isRunning(job: Job): boolean {
    return this.containers.has(job.jobId);
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all(
      [...this.containers.values()].map(({ host, cancelGrace }) => {
        cancelGrace?.();
        return host.lose();
      }),
    );
  }

  finish(job: Job, ending: Ending): void {
    if (this.closing) return;
    const container = { ...job.container!, stoppedAt: this.options.clock.now(), ...exitOf(ending) };
    const attempt: Attempt = { ...container, statusReason: ending.statusReason };
    this.book.update(job, { container, attempts: [...job.attempts, attempt] });
    this.events.ended(job, ending);
  }

  private onStarted(job: Job, pid: number): void {
    const container = {
      ...job.container!,
      startedAt: this.options.clock.now(),
      containerInstanceArn: containerInstanceArn(pid),
      pid,
      pidStart: processStart(pid),
    };
    this.book.update(job, { container });
    if (!this.closing) this.events.running(job);
  }

  private onEnd(job: Job, end: HostEnd): void {
    const running = this.containers.get(job.jobId);
    this.containers.delete(job.jobId);
    running?.cancelGrace?.();
    if (running) rmSync(running.hostDirectory, { recursive: true, force: true });
    if (end.kind === "exit") {
      this.finish(job, { exitCode: end.exitCode, statusReason: running?.statusReason ?? essentialExited });
    } else if (end.kind === "start-error") {
      this.finish(job, { reason: `CannotStartContainerError: ${end.message}`, statusReason: "Task failed to start" });
    } else this.finish(job, { statusReason: hostLost(instanceId(job.container?.pid ?? 0)) });
  }
}

const gpuVariables = (gpus: readonly string[]): Record<string, string> =>
  gpus.length === 0 ? {} : { CUDA_VISIBLE_DEVICES: gpus.join() };

function exitOf({ exitCode, reason }: Ending): Pick<Ending, "exitCode" | "reason"> {
  return { ...(exitCode === undefined ? {} : { exitCode }), ...(reason === undefined ? {} : { reason }) };
}

function logGroupOf(job: Job): string {
  return job.containerProperties?.logConfiguration?.options?.["awslogs-group"] ?? defaultLogGroup;
}
