import { availableParallelism } from "node:os";
import { derivedUuid } from "../../derived-uuid";
import { childMachine } from "../arns";
import { byteLength, type Json, maxPayloadBytes } from "../json";
import type { Container, State } from "../schema";
import type { ExecutionSummary } from "../store/records";
import type { Outcome } from "./tasks/invoke";

/** The resource under which the log records a distributed Map, which is a task there. */
export const mapRunResource = "arn:aws:states:::mapRun";

export interface MapRun {
  readonly state: string;
  readonly label: string;
  /** Distinguishes the map runs of an execution. */
  readonly id: string;
  readonly inputs: readonly Json[];
  readonly concurrency: number;
}

export interface Child {
  readonly machine: string;
  readonly name: string;
  readonly input: string;
  readonly definition: string;
}

export interface Children {
  run(child: Child): Promise<ExecutionSummary>;
  stop(child: Child): Promise<void>;
}

/**
 * Runs the child executions of a distributed Map, at most one for each core of this machine at a time. Their names
 * follow from the parent's, so that a map run that is repeated after a restart finds them. The first failure ends the
 * map run and stops the others, because no failure is tolerated.
 *
 * @param signal aborted when the parent has ended
 */
export async function runMap(
  { state, label, id, inputs, concurrency }: MapRun,
  parent: Pick<ExecutionSummary, "machine" | "name">,
  definition: string,
  children: Children,
  signal: AbortSignal,
): Promise<Outcome> {
  const machine = childMachine(parent.machine, label);
  const outputs: Json[] = [];
  const running = new Set<Child>();
  let next = 0;
  let failed = false;
  const stopAll = (): void => {
    for (const child of running) void children.stop(child);
  };
  const work = async (): Promise<void> => {
    while (next < inputs.length && !failed && !signal.aborted) {
      const index = next;
      next += 1;
      // AWS also gives child executions names in the form of UUIDs.
      const name = derivedUuid(`${parent.machine}/${parent.name}/${state}/${id}/${index}`);
      const child = { machine, name, input: JSON.stringify(inputs[index]), definition };
      running.add(child);
      const { status, output = "null" } = await children.run(child);
      running.delete(child);
      if (status === "SUCCEEDED") outputs[index] = JSON.parse(output) as Json;
      else if (!failed) {
        failed = true;
        stopAll();
      }
    }
  };
  signal.addEventListener("abort", stopAll);
  const workers = Math.min(concurrency, inputs.length, availableParallelism());
  try {
    await Promise.all(Array.from({ length: workers }, work));
  } catch (error) {
    stopAll();
    return { error: "States.Runtime", cause: `Internal error: ${(error as Error).message}` };
  } finally {
    signal.removeEventListener("abort", stopAll);
  }
  if (failed) {
    const cause = "The specified tolerated failure threshold was exceeded";
    return { error: "States.ExceedToleratedFailureThreshold", cause };
  }
  if (byteLength(outputs) <= maxPayloadBytes) return { output: outputs };
  return {
    error: "States.DataLimitExceeded",
    cause: `The state/task '${state}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  };
}

export function childDefinition(states: Container["States"], state: string): string {
  const place = findState(states, state);
  if (!place?.ItemProcessor) throw new Error(`no Map '${state}' in the definition: the validation let it pass`);
  const { StartAt, States } = place.ItemProcessor;
  return JSON.stringify({ QueryLanguage: "JSONata", StartAt, States });
}

function findState(states: Container["States"], name: string): State | undefined {
  if (Object.hasOwn(states, name)) return states[name];
  for (const { ItemProcessor, Branches = [] } of Object.values(states)) {
    for (const container of [ItemProcessor, ...Branches]) {
      const place = container && findState(container.States, name);
      if (place) return place;
    }
  }
  return undefined;
}
