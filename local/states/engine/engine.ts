import type { Clock } from "../../clock";
import type { FunctionInvoker } from "../../service";
import { executionArn } from "../arns";
import { ServiceError } from "../errors";
import type { Json } from "../json";
import type { StateMachine } from "../schema";
import type { ExecutionSummary, MachineRecord } from "../store/records";
import type { Store } from "../store/store";
import { apply, emptyState } from "./apply";
import { Execution, type ExecutionServices } from "./execution";
import { record } from "./log";
import { type Children, childDefinition, type MapRun, runMap } from "./map-run";
import { statusEvent } from "./status-event";
import type { Outcome } from "./tasks/invoke";
import { rootThread } from "./thread";
import { readToken } from "./token";

type Id = Pick<ExecutionSummary, "machine" | "name">;
const keyOf = ({ machine, name }: Id): string => `${machine}/${name}`;

/** The time until a failed start of a child is repeated. */
const retryMs = 1_000;

export interface StartRequest {
  readonly name: string;
  readonly input: string;
  readonly traceHeader?: string;
}

export class Engine {
  private readonly running = new Map<string, Execution>();
  private readonly services: ExecutionServices;
  private readonly waiting = new Map<string, () => void>();
  private starting = 0;
  private closing = false;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    functions: Pick<FunctionInvoker, "invoke">,
  ) {
    this.services = {
      functions,
      store,
      clock,
      closed: ({ summary }) => {
        this.running.delete(keyOf(summary));
        this.waiting.get(keyOf(summary))?.();
        this.waiting.delete(keyOf(summary));
      },
      runMap: (execution, run, signal) => this.runMap(execution, run, signal),
    };
  }

  /** Loads the running executions. The returned function resumes them. */
  async recover(): Promise<() => Promise<void>> {
    for (const summary of await this.store.running()) {
      const state = emptyState(JSON.parse(summary.definition) as StateMachine);
      for await (const entry of this.store.log(summary)) apply(state, entry);
      this.running.set(keyOf(summary), new Execution(summary, state, this.services));
    }
    return async () => {
      await this.store.outbox.send();
      for (const execution of this.running.values()) execution.resume();
      // A parent ends before its children are stopped.
      for (const execution of [...this.running.values()]) {
        const { parent } = execution.summary;
        if (parent && !this.find(parent)) void execution.stop({});
      }
    };
  }

  /**
   * Starts an execution, or finds the running one with the same name and input. It is on disk when the call returns.
   * Two starts of one machine must not run at the same time, because both might find the name unused.
   */
  async start(machine: MachineRecord, { name, input, traceHeader }: StartRequest): Promise<ExecutionSummary> {
    const execution = await this.store.execution({ machine: machine.name, name });
    if (execution) {
      if (execution.status === "RUNNING" && execution.input === input) return execution;
      throw new ServiceError(
        "ExecutionAlreadyExists",
        `Execution Already Exists: '${executionArn(machine.name, name)}'`,
      );
    }
    const startedAt = this.clock.now();
    const summary: ExecutionSummary = {
      machine: machine.name,
      name,
      status: "RUNNING",
      input,
      startedAt,
      definition: machine.definition,
      roleArn: machine.roleArn,
      revisionId: machine.revisionId,
      traceHeader,
    };
    return this.begin(summary);
  }

  private async begin(summary: ExecutionSummary): Promise<ExecutionSummary> {
    const state = emptyState(JSON.parse(summary.definition) as StateMachine);
    const fact = { type: "ExecutionStarted", input: JSON.parse(summary.input) as Json } as const;
    const first = record(state, { thread: rootThread, fact }, summary.startedAt);
    await this.store.begin(summary, [first], statusEvent(summary));
    const execution = new Execution(summary, state, this.services);
    this.running.set(keyOf(summary), execution);
    execution.resume();
    return summary;
  }

  /** Runs the children of a distributed Map. They inherit role and revision of their parent. */
  private runMap({ summary, state }: Execution, run: MapRun, signal: AbortSignal): Promise<Outcome> {
    const { machine, name, roleArn, revisionId } = summary;
    const inherited = { roleArn, revisionId, parent: { machine, name } };
    const definition = childDefinition(state.machine.States, run.state);
    const children: Children = {
      run: (child) => this.runChild({ ...inherited, ...child }, signal),
      stop: async (child) => void (this.closing || (await this.find(child)?.stop({}))),
    };
    return runMap(run, summary, definition, children, signal);
  }

  private async runChild(
    child: Omit<ExecutionSummary, "status" | "startedAt">,
    signal: AbortSignal,
  ): Promise<ExecutionSummary> {
    const execution = await this.store.execution(child);
    if (execution && execution.status !== "RUNNING") return execution;
    const ended = new Promise<void>((resolve) => this.waiting.set(keyOf(child), resolve));
    const startedAt = this.clock.now();
    this.starting += 1;
    try {
      if (!execution) await this.beginChild({ ...child, status: "RUNNING", startedAt }, signal);
    } finally {
      this.starting -= 1;
    }
    // The parent may have ended while the child was being written.
    if (signal.aborted && !this.closing) await this.find(child)?.stop({});
    if (this.find(child)) await ended;
    return (await this.store.execution(child))!;
  }

  private async beginChild(summary: ExecutionSummary, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await this.begin(summary);
        return;
      } catch (error) {
        if (this.closing || signal.aborted) throw error;
        await new Promise<void>((resolve) => this.clock.schedule(retryMs, resolve));
      }
    }
  }

  find = (id: Id): Execution | undefined => this.running.get(keyOf(id));

  async byToken(token: string): Promise<Execution> {
    const parts = readToken(token);
    const execution = this.find(parts);
    if (execution) return execution;
    if (await this.store.execution(parts)) {
      throw new ServiceError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'");
    }
    throw new ServiceError("TaskDoesNotExist", "Task Does Not Exist: 'Provided task does not exist'");
  }

  async idle(): Promise<void> {
    while (this.starting > 0 || [...this.running.values()].some((execution) => !execution.idle)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.running.values()].map((execution) => execution.halt()));
  }
}
