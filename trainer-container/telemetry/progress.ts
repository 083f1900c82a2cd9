import type { WorkerProgress } from "../../core/runs/progress";
import type { Generation } from "../gang/gang";

/** The workers of a run as the leader knows them: those of its generation, and those that it saw leave. */
export class WorkerRoster {
  private workers = new Map<string, WorkerProgress>();
  private lost = new Set<number>();

  /** A generation has begun: earlier members that are not in it have left, or were lost. */
  begin(generation: Pick<Generation, "members">, finishedSteps: number): void {
    const present = new Set(generation.members.map(({ memberId }) => memberId));
    for (const [memberId, worker] of this.workers) {
      if (present.has(memberId) || worker.state !== "training") continue;
      this.workers.set(memberId, { ...worker, state: this.lost.has(worker.rank) ? "lost" : "left" });
    }
    this.lost.clear();
    const indexes = new Set(generation.members.map(({ workerIndex }) => workerIndex));
    for (const [memberId, worker] of this.workers) {
      if (!present.has(memberId) && indexes.has(worker.workerIndex)) this.workers.delete(memberId); // replaced
    }
    for (const { memberId, rank, workerIndex, host, pid } of generation.members) {
      this.workers.set(memberId, { memberId, rank, workerIndex, host, pid, state: "training", step: finishedSteps });
    }
  }

  loseRank(rank: number | undefined): void {
    if (rank !== undefined) this.lost.add(rank);
  }

  end(step: number): void {
    for (const [memberId, worker] of this.workers) {
      if (worker.state === "training") this.workers.set(memberId, { ...worker, state: "left", step });
    }
  }

  at(step: number): readonly WorkerProgress[] {
    return [...this.workers.values()]
      .map((worker) => (worker.state === "training" ? { ...worker, step } : worker))
      .sort((a, b) => Number(b.state === "training") - Number(a.state === "training") || a.rank - b.rank);
  }
}

/** Width of the window of a rate. It spans some epochs of a short training, so that their validations are spread evenly. */
const rateWindowMs = 30_000;

interface Mark {
  readonly at: number;
  /** Samples of all steps that this process finished up to then. */
  readonly samples: number;
}

/**
 * Samples of finished steps per second over the last 30 s, with validation, checkpoints and pauses, without the first
 * step: it also compiles.
 */
export class Rate {
  private readonly marks: Mark[] = [];
  private startedAt: number | undefined;
  private newest: Mark | undefined;

  /** Records that steps begin. Only the first call matters: the time between generations counts. */
  start(at: number): void {
    this.startedAt ??= at;
  }

  add(at: number, samples: number): void {
    const newest = { at, samples: (this.newest?.samples ?? 0) + samples };
    this.newest = newest;
    const last = this.marks.at(-1);
    if (last === undefined || at - last.at >= rateWindowMs / 300) this.marks.push(newest);
    while (this.marks.length > 1 && at - this.marks[1]!.at >= rateWindowMs) this.marks.shift();
  }

  get samplesPerSecond(): number {
    const { newest } = this;
    if (newest === undefined) return 0;
    const [first = newest] = this.marks;
    const from = newest.at > first.at ? first : { at: this.startedAt ?? newest.at, samples: 0 };
    return ((newest.samples - from.samples) * 1000) / Math.max(1, newest.at - from.at);
  }
}

export interface SystemReading {
  /** Milliseconds, monotonic. */
  readonly at: number;
  /** Microseconds of processor time, user and system. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
  readonly finishedSteps: number;
  readonly samplesPerSecond: number;
  readonly dataWaitMs: number;
  readonly communicationMs: number;
}

/** Computes a worker's load between two readings, by metric name under `system/worker-<index>/`. */
export function systemMetrics(before: SystemReading, after: SystemReading): Readonly<Record<string, number>> {
  const elapsed = Math.max(1, after.at - before.at);
  const share = (ms: number) => Math.min(1, Math.max(0, ms / elapsed));
  return {
    /** Number of busy cores. */
    cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / 1000 / elapsed,
    rss: after.rssBytes,
    "samples-per-second": after.samplesPerSecond,
    "data-wait-share": share(after.dataWaitMs - before.dataWaitMs),
    "communication-share": share(after.communicationMs - before.communicationMs),
  };
}
