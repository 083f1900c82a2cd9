import { type Clock, systemClock } from "../clock";
import { SerialQueue } from "../serial-queue";
import type { EventSink, FunctionInvoker, Service } from "../service";
import { handle } from "./api/http";
import type { Api } from "./api/operation";
import { Engine } from "./engine/engine";
import { Store } from "./store/store";

export type { Clock } from "../clock";

export interface StepFunctionsOptions {
  readonly dataDirectory: string;
  readonly functions: Pick<FunctionInvoker, "invoke">;
  readonly events: EventSink;
  readonly clock?: Clock;
  /**
   * Resolves when the functions can be called. Executions that were running then resume. By default they resume at
   * once.
   */
  readonly ready?: Promise<unknown>;
}

export interface StepFunctions extends Service {
  /** Resolves once every execution waits for a timer, a function or a token. */
  idle(): Promise<void>;
}

/**
 * Creates the embedded AWS Step Functions: standard workflows in JSONata with the service's own protocol.
 * Acknowledged data survive `kill -9`, and running executions resume at the next start
 * (docs/adr/004-step-functions.md).
 */
export async function createStepFunctions(options: StepFunctionsOptions): Promise<StepFunctions> {
  const { dataDirectory, functions, events, clock = systemClock, ready } = options;
  const store = await Store.open(dataDirectory, events);
  const engine = new Engine(store, clock, functions);
  const api: Api = { store, engine, clock, exclusively: changesByMachine() };

  const resume = await engine.recover();
  let closed = false;
  const start = async (): Promise<void> => {
    if (!closed) await resume();
  };
  const started = ready ? ready.then(start) : start();
  started.catch((error: unknown) => {
    // A closed store interrupts the start.
    if (!closed) console.error(JSON.stringify({ level: "error", service: "states", error: String(error) }));
  });
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

function changesByMachine(): Api["exclusively"] {
  const queues = new Map<string, SerialQueue>();
  return async (machine, change) => {
    const queue = queues.get(machine) ?? new SerialQueue();
    queues.set(machine, queue);
    try {
      return await queue.run(change);
    } finally {
      if (queue.idle) queues.delete(machine);
    }
  };
}
