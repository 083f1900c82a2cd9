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

  /** All workers have reached the end. */
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

/** Measures steps per second over the last few seconds. */
export class Pace {
  private readonly marks: { readonly at: number; readonly step: number }[] = [];
  /** Value from before the last pause, until there are two marks after it. */
  private before = 0;

  constructor(private readonly windowMs: number = 5_000) {}

  mark(at: number, step: number): void {
    const newest = this.marks.at(-1);
    if (newest !== undefined && step < newest.step) this.marks.length = 0; // returned to a checkpoint
    this.marks.push({ at, step });
    while (this.marks.length > 2 && at - this.marks[1]!.at >= this.windowMs) this.marks.shift();
  }

  /** Excludes the time before a pause (validation, a generation's end). */
  interrupt(): void {
    this.before = this.stepsPerSecond;
    this.marks.length = 0;
  }

  get stepsPerSecond(): number {
    const first = this.marks[0];
    const last = this.marks.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at) return this.before;
    return ((last.step - first.step) * 1000) / (last.at - first.at);
  }
}
