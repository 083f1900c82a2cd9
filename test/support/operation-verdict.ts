import type { Random } from "./random";

export interface Operation {
  readonly kind: string;
  readonly id: string;
  /** Whether a client may repeat it if it got no answer. */
  readonly repeatable: boolean;
  /** Whether it may be refused because others changed the same object. */
  readonly mayBeRefused?: true;
  /**
   * Sends it.
   *
   * @param again whether it was sent before without an answer
   * @throws RefusedError for a refusal; any other error means that no answer arrived
   */
  send(again: boolean): Promise<void>;
  /** Kills the client that sends it. @returns whether it existed */
  kill?(): boolean;
  /** Whether an acknowledged operation may have had no effect. */
  mayDoNothing?(): Promise<boolean>;
  count(): Promise<number>;
}

export interface Load {
  readonly name: string;
  readonly weight: number;
  draw?(random: Random, id: string): Operation;
  extra?(random: Random, id: string): Operation | undefined;
  begin?(round: number): Promise<void>;
  settle?(): Promise<void>;
  /** Checks properties of all operations together. @returns violations */
  audit?(entries: readonly Entry[]): Promise<readonly string[]>;
}

export interface Entry {
  readonly operation: Operation;
  readonly round: number;
  /** `unanswered`: its effect may exist or not. A code: it was refused. */
  answer: "acknowledged" | "unanswered" | string;
  /** Whether a violation of it was reported. */
  reported?: true;
  readonly log: string[];
}

export class RefusedError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "RefusedError";
  }
}

/** Compares an entry with the state of the stack. @returns the violation, or undefined */
export async function judge({ operation, answer }: Entry): Promise<string | undefined> {
  let count: number;
  try {
    count = await operation.count();
  } catch (error) {
    return `partly there or unreadable: ${error instanceof Error ? error.message : error}`;
  }
  if (count > 1) return `done ${count} times`;
  if (answer === "acknowledged")
    return count === 1 || (await operation.mayDoNothing?.()) ? undefined : "acknowledged and lost";
  if (answer === "unanswered") return undefined;
  return count === 0 ? undefined : `refused with ${answer}, and done`;
}

/** Waits until `look` returns nothing. @throws Error with the rest after the time */
export async function drained(
  what: string,
  look: () => Promise<readonly string[]>,
  patienceMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, 500)) {
    const left = await look();
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`${what} after ${patienceMs / 1000} s: ${left.slice(0, 5).join("; ")}`);
    await new Promise((wait) => setTimeout(wait, pauseMs));
  }
}
