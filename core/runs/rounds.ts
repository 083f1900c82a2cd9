import * as z from "zod";
import { digestOf } from "../digest";
import { eachLimited, mapLimited } from "../each-limited";
import { RingmasterError } from "../errors";
import { type DocumentKind, getJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import type { Shape } from "../shapes";

/*
 * A step whose data is too large for one function works in rounds. In a round, each part of the data has a task, which
 * stores its result. A step is a function that is called again after each round: it finds the results of earlier rounds,
 * and stops at the first round that is not complete (`RoundPending`). The state machine then calls the same function once
 * for each part. Such a call finds the results of earlier rounds too, computes its part, and stops (`TaskDone`).
 */

/** Increases whenever a change of the code changes a result. */
const version = 1;
const requestsAtOnce = 16;
/** A result that is no longer needed. Functions may write objects, but not delete them. */
const empty = "{}";

/** The part of a round that a call computes. */
export interface RoundTask {
  readonly round: string;
  readonly part: number;
}

/** Thrown when a round has missing results. It is no error: the caller lets its tasks run and calls again. */
export class RoundPending extends Error {
  override readonly name = "RoundPending";

  constructor(
    readonly round: string,
    readonly parts: number,
  ) {
    super(`the results of round ${round} are incomplete: run its ${parts} tasks and call again`);
  }
}

/** Thrown when the result of the call's task is stored. It is no error. */
export class TaskDone extends Error {
  override readonly name = "TaskDone";
}

export interface Rounds {
  /**
   * Returns the results of a round, in the order of the parts, one at a time. A result is JSON. Reading them throws the
   * first error of a part.
   * @param name distinguishes the rounds of a step
   * @throws RoundPending, TaskDone
   */
  run<Part, Result>(
    name: string,
    parts: readonly Part[],
    compute: (part: Part) => Promise<Result>,
  ): Promise<AsyncIterable<Result>>;
  /** Empties the stored results. They are no longer needed once the step's output is recorded. */
  clear(): Promise<void>;
}

/** Computes the only part of each round in this process, and stores nothing. */
export const inOneProcess: Rounds = {
  run: async (_name, parts, compute) => computed(parts, compute),
  clear: async () => undefined,
};

async function* computed<Part, Result>(parts: readonly Part[], compute: (part: Part) => Promise<Result>) {
  for (const part of parts) yield await compute(part);
}

const storedSchema = z.object({
  result: z.unknown().optional(),
  error: z
    .object({ message: z.string(), code: z.string(), httpStatus: z.int() })
    .optional()
    .meta({ description: "An error that another attempt would repeat." }),
});
type Stored = Shape<typeof storedSchema>;

/** Only functions of the platform write it, so that the result has the type that they computed. */
const stored: DocumentKind<Stored> = { name: "the result of a part", schema: storedSchema, maxBytes: 2 ** 29 };

/**
 * Creates the rounds of a step whose results are in the bucket.
 * @param inputHash hash of the step's inputs: equal inputs share results
 * @param task the part that this call computes; absent in the call that merges
 */
export function storedRounds(
  objects: Pick<ObjectStore, "find" | "put" | "size">,
  inputHash: string,
  task?: RoundTask,
): Rounds {
  const used: string[] = [];
  const isThere = async (key: string): Promise<boolean> => ((await objects.size(key)) ?? 0) > empty.length;
  const store = (key: string, text: string): Promise<void> => objects.put(key, text, "application/json");
  return {
    async run<Part, Result>(name: string, parts: readonly Part[], compute: (part: Part) => Promise<Result>) {
      const round = digestOf({ version, inputHash, name });
      const keys = parts.map((_, index) => objectKeys.roundResult(round, index));
      if (task?.round === round) {
        const key = keys[task.part];
        if (key === undefined) throw new RangeError(`round ${round} has ${parts.length} parts, but no ${task.part}`);
        // A repeated call has nothing to do. Two calls at the same time store equal results.
        if (!(await isThere(key))) await store(key, JSON.stringify(await outcomeOf(compute, parts[task.part]!)));
        throw new TaskDone();
      }
      used.push(...keys);
      const there = await mapLimited(keys, requestsAtOnce, isThere);
      if (!there.every(Boolean)) throw new RoundPending(round, parts.length);
      return results<Result>(keys);
    },
    clear: () => eachLimited(used, requestsAtOnce, (key) => store(key, empty)),
  };

  async function* results<Result>(keys: readonly string[]): AsyncGenerator<Result> {
    for (const key of keys) {
      const { result, error } = await getJson(objects, key, stored);
      if (error) {
        // The next run tries again.
        await store(key, empty);
        const { message, ...details } = error;
        throw new RingmasterError(message, details);
      }
      yield result as Result;
    }
  }
}

async function outcomeOf<Part>(compute: (part: Part) => Promise<unknown>, part: Part): Promise<Stored> {
  try {
    return { result: await compute(part) };
  } catch (error) {
    if (!(error instanceof RingmasterError) || error.retryable) throw error;
    return { error: { message: error.message, code: error.code, httpStatus: error.httpStatus } };
  }
}
