import { at, type Clock } from "../../clock";
import { SerialQueue } from "../../serial-queue";
import type { FunctionInvoker } from "../../service";
import { ServiceError } from "../errors";
import type { Json } from "../json";
import type { FailureDetails, LogRecord } from "../store/log-record";
import type { ExecutionSummary } from "../store/records";
import type { Store } from "../store/store";
import type { View } from "./context";
import type { Draft } from "./draft";
import { Effects } from "./effects";
import { closedSummary, isTerminal, record } from "./log";
import { type MapRun, mapRunResource } from "./map-run";
import { statusEvent } from "./status-event";
import { step } from "./step";
import { invoke, type Outcome } from "./tasks/invoke";
import { type ExecutionState, rootThread, type TaskPhase, type Thread } from "./thread";
import { makeToken } from "./token";

export interface ExecutionServices {
  readonly functions: Pick<FunctionInvoker, "invoke">;
  readonly store: Store;
  readonly clock: Clock;
  closed(execution: Execution): void;
  runMap(execution: Execution, run: MapRun, signal: AbortSignal): Promise<Outcome>;
}

/** The number of steps before the records are written and other executions may run. */
const sliceSteps = 64;

/**
 * A running execution. Everything that happens to it (a step, a timer, a result, a token, a stop) goes through one
 * queue. Records are applied at once. They are written before anything becomes visible outside: before an invocation
 * starts, a caller is answered, or an event is put.
 */
export class Execution implements View {
  private readonly jobs = new SerialQueue();
  private readonly runnable = new Set<string>();
  private readonly blocked = new Set<string>();
  private unwritten: LogRecord[] = [];
  private readonly effects: Effects;
  private stopTimer: (() => void) | undefined;
  private driving = false;
  private halted = false;

  constructor(
    public summary: ExecutionSummary,
    readonly state: ExecutionState,
    private readonly services: ExecutionServices,
  ) {
    const { clock } = services;
    this.effects = new Effects({
      clock,
      wake: (thread) => this.wake(thread),
      invoke: (phase, signal) => this.invoke(phase, signal),
      settled: (thread, phase, outcome) => this.inside(() => this.settle(thread, phase, outcome)),
    });
  }

  get idle(): boolean {
    return this.jobs.idle && !this.driving;
  }

  now = (): number => this.services.clock.now();
  random = (): number => Math.random();
  token = (thread: Thread): string => makeToken({ ...this.summary, thread: thread.id });

  resume(): void {
    const { TimeoutSeconds: seconds } = this.state.machine;
    if (seconds !== undefined) {
      const due = this.state.startedAt + seconds * 1000;
      this.stopTimer = at(this.services.clock, due, () => this.inside(() => this.end({ type: "ExecutionTimedOut" })));
    }
    for (const id of this.state.threads.keys()) this.runnable.add(id);
    void this.drive();
  }

  /** Cancels timers and invocations. The log does not change. */
  async halt(): Promise<void> {
    this.halted = true;
    this.stopTimer?.();
    this.effects.cancelAll();
    await this.jobs.drain();
  }

  stop(details: FailureDetails): Promise<number> {
    return this.jobs.run(async () => {
      await this.end({ type: "ExecutionAborted", ...details });
      return this.summary.stoppedAt ?? this.now();
    });
  }

  taskSucceeded(token: string, output: Json): Promise<void> {
    return this.answer(token, (resource) => ({ type: "TaskSucceeded", resource, output }));
  }

  taskFailed(token: string, details: FailureDetails): Promise<void> {
    return this.answer(token, (resource) => ({ type: "TaskFailed", resource, ...details }));
  }

  heartbeat(token: string): Promise<void> {
    return this.jobs.run(async () => this.effects.heartbeat(this.waiting(token).thread.id));
  }

  private answer(token: string, fact: (resource: string) => Draft["fact"]): Promise<void> {
    return this.jobs.run(async () => {
      const { thread, phase } = this.waiting(token);
      this.apply({ thread: thread.id, fact: fact(phase.task.resource) });
      await this.write();
      this.wake(thread.id);
    });
  }

  /** Returns the thread whose task waits for the token. A completed task accepts no token. */
  private waiting(token: string): { readonly thread: Thread; readonly phase: TaskPhase } {
    for (const thread of this.state.threads.values()) {
      const { phase } = thread;
      if (phase.kind === "task" && phase.task.token === token) return { thread, phase };
    }
    throw new ServiceError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'");
  }

  private invoke(phase: TaskPhase, signal: AbortSignal): Promise<Outcome> {
    const { resource, parameters } = phase.task;
    if (resource === mapRunResource) return this.services.runMap(this, parameters as unknown as MapRun, signal);
    return invoke(phase.task, this.services.functions, signal);
  }

  private async settle(id: string, phase: TaskPhase, outcome: Outcome): Promise<void> {
    const thread = this.state.threads.get(id);
    if (thread?.phase !== phase) return;
    const { resource, token } = phase.task;
    const draft = (fact: Draft["fact"]) => this.apply({ thread: id, fact });
    if (!("output" in outcome)) draft({ type: "TaskFailed", resource, ...outcome });
    else draft({ type: token === undefined ? "TaskSucceeded" : "TaskSubmitted", resource, output: outcome.output });
    if (resource === mapRunResource && "output" in outcome) draft({ type: "MapSucceeded" });
    await this.write();
    this.wake(id);
  }

  private async end(fact: Draft["fact"]): Promise<void> {
    if (this.state.closed) return;
    this.apply({ thread: rootThread, fact });
    await this.write();
  }

  private wake(thread: string): void {
    this.runnable.add(thread);
    void this.drive();
  }

  private async drive(): Promise<void> {
    if (this.driving || this.halted) return;
    this.driving = true;
    try {
      await this.jobs.run(() => this.slice());
      while (this.runnable.size > 0) {
        await new Promise((resolve) => setImmediate(resolve));
        if (this.halted) break;
        await this.jobs.run(() => this.slice());
      }
    } catch {
      // A failed write, which `writeLater` repeats.
    } finally {
      this.driving = false;
    }
  }

  /** Handles a failed write. The applied records stay in memory, invisible, until they can be written. */
  private writeLater(error: unknown): void {
    report(this.summary.name, error);
    at(this.services.clock, this.now() + 1000, () => this.wake(rootThread));
  }

  private async slice(): Promise<void> {
    for (let steps = 0; steps < sliceSteps && !this.state.closed; steps += 1) {
      const [id] = this.runnable;
      if (id === undefined) break;
      const thread = this.state.threads.get(id);
      const drafts = thread ? await step(this, thread).catch(broken) : [];
      if (drafts.length === 0) {
        this.runnable.delete(id);
        this.blocked.add(id);
      }
      for (const draft of drafts) this.apply(draft);
    }
    await this.write();
  }

  private apply(draft: Draft): void {
    if (this.state.closed) return;
    const { threads } = this.state;
    const parent = threads.get(draft.thread)?.parent;
    const entry = record(this.state, draft, this.now());
    this.unwritten.push(entry);
    this.runnable.add(draft.thread);
    // A thread that ended has passed its output to its parent. New threads are ready to begin.
    if (parent !== undefined && !threads.has(draft.thread)) this.runnable.add(parent);
    for (const id of createdThreads(entry, threads.get(draft.thread))) this.runnable.add(id);
  }

  private async write(): Promise<void> {
    const log = this.unwritten;
    this.unwritten = [];
    const last = log.at(-1);
    try {
      if (last && isTerminal(last)) return await this.writeEnd(log, last);
      if (log.length > 0) await this.services.store.append(this.summary, log);
    } catch (error) {
      this.unwritten = [...log, ...this.unwritten];
      this.writeLater(error);
      throw error;
    }
    if (this.halted) return;
    this.effects.sweep(this.state.threads);
    for (const id of this.blocked) {
      const thread = this.state.threads.get(id);
      if (thread) this.effects.arm(thread);
    }
    this.blocked.clear();
  }

  private async writeEnd(log: readonly LogRecord[], last: LogRecord): Promise<void> {
    const ended = closedSummary(this.summary, last);
    await this.services.store.end(ended, log, statusEvent(ended));
    this.summary = ended;
    this.stopTimer?.();
    this.effects.cancelAll();
    this.runnable.clear();
    this.services.closed(this);
  }

  private inside(job: () => Promise<void>): void {
    this.jobs.run(job).catch(() => undefined);
  }
}

function createdThreads(entry: LogRecord, thread: Thread | undefined): readonly string[] {
  if (thread?.phase.kind !== "join") return [];
  if (entry.type === "ParallelStarted") return [...thread.phase.running];
  return entry.type === "MapIterationStarted" ? [`${thread.id}/${entry.seq}.${entry.index}`] : [];
}

/** Ends the execution after an internal error of the interpreter, so that it does not hang. */
function broken(error: unknown): readonly Draft[] {
  const cause = `Internal error: ${error instanceof Error ? error.message : String(error)}`;
  return [{ thread: rootThread, fact: { type: "ExecutionFailed", error: "States.Runtime", cause } }];
}

function report(execution: string, error: unknown): void {
  console.error(JSON.stringify({ level: "error", service: "states", execution, error: String(error) }));
}
