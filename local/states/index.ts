import { type Clock, systemClock } from "../clock";
import type { EventSink, FunctionInvoker, Service } from "../service";
import { handle } from "./api/http";
import type { Api } from "./api/operation";
import { Engine } from "./engine/engine";
import { Store } from "./store/store";

export type { Clock } from "../clock";

export interface StepFunctionsOptions {
  /** The service's own directory; made if it is not there. One process at a time may use it. */
  readonly dataDirectory: string;
  /** What Lambda tasks call. */
  readonly functions: FunctionInvoker;
  /** Gets "Step Functions Execution Status Change" events, and what `events:putEvents` tasks put. */
  readonly events: EventSink;
  readonly clock?: Clock;
  /** Where the seal of the store lies; by default in the data directory. */
  readonly seals?: string;
  /** Executions that were running go on once this resolves: when the functions they call can be reached. By default at once. */
  readonly ready?: Promise<unknown>;
}

export interface StepFunctions extends Service {
  /** Resolves once every execution waits for a timer, a function or a token. */
  idle(): Promise<void>;
}

/**
 * The embedded AWS Step Functions: standard workflows in JSONata and JSONPath behind the service's own protocol.
 * What it has acknowledged survives `kill -9`, and running executions go on when it is opened again (docs/adr/004-step-functions.md).
 */
export async function createStepFunctions(options: StepFunctionsOptions): Promise<StepFunctions> {
  const { dataDirectory, functions, events, clock = systemClock, ready, seals } = options;
  const store = await Store.open(dataDirectory, seals);
  const engine = new Engine(store, clock, { functions, events });
  const api: Api = { store, engine, clock, exclusively: turnstile(), finishDeletion };

  async function finishDeletion(name: string): Promise<void> {
    if ((await store.machine(name))?.status !== "DELETING") return;
    for (const execution of engine.of(name)) await execution.stop({ cause: "The state machine was deleted" });
    await store.removeMachine(name);
  }

  const resume = await engine.recover();
  let closed = false;
  const start = async (): Promise<void> => {
    if (closed) return;
    await resume();
    for (const { name } of await store.machines(undefined, Number.MAX_SAFE_INTEGER)) await finishDeletion(name);
  };
  const started = ready ? ready.then(start) : start();
  started.catch((error: unknown) =>
    console.error(JSON.stringify({ level: "error", service: "states", error: String(error) })),
  );
  if (!ready) await started;

  return {
    signingName: "states",
    handle: (request, response, caller) => handle(request, response, api, caller),
    idle: () => engine.idle(),
    async close() {
      closed = true;
      await engine.close();
      await store.close();
    },
  };
}

/** Lets jobs of one key pass one at a time. */
function turnstile(): Api["exclusively"] {
  const last = new Map<string, Promise<unknown>>();
  return (key, job) => {
    const done = (last.get(key) ?? Promise.resolve()).then(job, job);
    last.set(key, done);
    const forget = () => last.get(key) === done && last.delete(key);
    done.then(forget, forget);
    return done;
  };
}
