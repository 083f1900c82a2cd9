import type { Random } from "../elastic/random";

/** An operation of a client, whose effect can be counted afterwards. */
export interface Operation {
  readonly kind: string;
  /** Unique in the campaign. */
  readonly id: string;
  /** Whether a client may send it again where it got no answer. */
  readonly repeatable: boolean;
  /** Whether the rules may refuse it, because others changed what it is about. */
  readonly mayBeRefused?: true;
  /**
   * Sends it.
   *
   * @param again whether it was sent before without an answer
   * @throws RefusedError for an answer that refuses it; any other error means that no answer came
   */
  send(again: boolean): Promise<void>;
  /** Kills the client that sends it. @returns whether one was there */
  kill?(): boolean;
  /** Whether an acknowledgement may mean that there was nothing to do. */
  mayDoNothing?(): Promise<boolean>;
  /** Counts its effect. @throws Error where only a part of it is there */
  count(): Promise<number>;
}

/** A kind of work that clients do at the same time as others. */
export interface Load {
  readonly name: string;
  /** How often it is drawn, relative to others. */
  readonly weight: number;
  draw?(random: Random, id: string): Operation;
  /** An operation of a client of its own, at most one a round. */
  extra?(random: Random, id: string): Operation | undefined;
  /** Called before each round. */
  begin?(round: number): Promise<void>;
  /** Resolves when nothing that it started is under way. @throws Error that names what is stuck */
  settle?(): Promise<void>;
  /** Checks what holds of all operations together. @returns violations */
  audit?(entries: readonly Entry[]): Promise<readonly string[]>;
}

/** An operation with what its client knows of it. */
export interface Entry {
  readonly operation: Operation;
  readonly round: number;
  /** `unanswered`: its effect may be there or not. A code: it was refused. */
  answer: "acknowledged" | "unanswered" | string;
  /** Whether a violation of it was reported. */
  reported?: true;
  /** The outcome, for a report. */
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

/** Compares an entry with what the stack has. @returns what is wrong, or undefined */
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

/** Waits until `look` finds nothing left. @throws Error with what is left after the time */
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
