import { setTimeout as sleep } from "node:timers/promises";
import { type Entry, judge, type Load, type Operation, RefusedError } from "../../test/support/operation-verdict";
import { integerBelow, oneOf, type Random, someOf } from "../../test/support/random";
import type { KillableStack } from "./stack";

export interface CampaignOptions {
  readonly clients: number;
  /** Entries of earlier rounds that each round checks again. */
  readonly lookedAtAgain: number;
}

export interface RoundResult {
  readonly round: number;
  readonly victim: string;
  readonly operations: number;
  readonly violations: readonly string[];
}

/** Long enough that requests of a round are in progress, and shorter than most rounds. */
const killWithinMs = 500;
const sentAgain = 0.5;
const killedAgain = 0.15;

/** Rounds of mixed load with a kill in each. Everything that was sent is recorded and compared with the state of the stack. */
export class Campaign {
  readonly entries: Entry[] = [];
  killedStarts = 0;
  /** Loads, each repeated by its weight. */
  private readonly drawn: readonly Load[];
  private sequence = 0;

  constructor(
    readonly stack: KillableStack,
    readonly loads: readonly Load[],
    readonly options: CampaignOptions,
  ) {
    this.drawn = loads.flatMap((load) => Array<Load>(load.weight).fill(load));
  }

  async play(round: number, random: Random): Promise<RoundResult> {
    for (const load of this.loads) await load.begin?.(round);
    const before = this.entries.length;
    const state = { over: false };
    const extras = this.loads
      .map((load) => load.extra?.(random, this.nextId(round)))
      .filter((operation) => operation !== undefined)
      .map((operation) => this.enter(operation, round));
    const clients = [
      ...extras.map((entry) => attempt(entry, false)),
      ...Array.from({ length: this.options.clients }, () => this.work(round, random, state)),
    ];
    await sleep(50 + random() * killWithinMs);
    const victim = await this.kill(random, extras);
    state.over = true;
    await Promise.all(clients);
    if (!this.stack.isRunning) await this.restart(random);
    const own = this.entries.slice(before);
    await this.sendAgain(own, random);
    const violations = await this.settle();
    violations.push(...(await violationsOf(own)));
    violations.push(...(await violationsOf(someOf(random, this.entries.slice(0, before), this.options.lookedAtAgain))));
    return { round, victim, operations: own.length, violations };
  }

  async audit(): Promise<readonly string[]> {
    const violations = await violationsOf(this.entries);
    for (const load of this.loads) {
      const found = (await load.audit?.(this.entries)) ?? [];
      violations.push(...found.map((violation) => `${load.name}: ${violation}`));
    }
    return violations;
  }

  private async work(round: number, random: Random, state: { readonly over: boolean }): Promise<void> {
    while (!state.over) {
      const operation = oneOf(random, this.drawn).draw!(random, this.nextId(round));
      await attempt(this.enter(operation, round), false);
    }
  }

  private nextId(round: number): string {
    this.sequence += 1;
    return `k${round}-${this.sequence}`;
  }

  private enter(operation: Operation, round: number): Entry {
    const entry: Entry = { operation, round, answer: "unanswered", log: [] };
    this.entries.push(entry);
    return entry;
  }

  /** Kills the stack, a command of a client, or one of the processes that the stack has started. */
  private async kill(random: Random, extras: readonly Entry[]): Promise<string> {
    if (extras.length > 0 && random() < 0.3 && oneOf(random, extras).operation.kill?.()) return "a command";
    const children = this.stack.descendants();
    if (children.length === 0 || random() < 0.6) {
      const all = random() < 0.2;
      if (all) for (const { pid } of children) killProcess(pid);
      await this.stack.killed();
      return all ? "the stack and its children" : "the stack";
    }
    const { pid, command } = oneOf(random, children);
    if (!killProcess(pid)) return "none";
    await sleep(integerBelow(random, 200));
    return /(lambda-runtime|batch-host|trainer|worker)\b/.exec(command)?.[1] ?? "other child";
  }

  /** Starts the stack. In some rounds it is killed during its recovery. */
  private async restart(random: Random): Promise<void> {
    while (random() < killedAgain) {
      const started = this.stack.start().catch(() => undefined);
      await sleep(random() * 1_000);
      await this.stack.killed();
      await started;
      this.killedStarts += 1;
    }
    await this.stack.start();
  }

  private async sendAgain(entries: readonly Entry[], random: Random): Promise<void> {
    const unanswered = entries.filter(({ answer, operation }) => answer === "unanswered" && operation.repeatable);
    await Promise.all(unanswered.filter(() => random() < sentAgain).map((entry) => attempt(entry, true)));
  }

  private async settle(): Promise<string[]> {
    const stuck = await Promise.all(
      this.loads.map((load) =>
        load.settle?.().then(
          () => undefined,
          (error: unknown) => `${load.name} is stuck: ${messageOf(error)}`,
        ),
      ),
    );
    return stuck.filter((each) => each !== undefined);
  }
}

/** @returns whether the process still existed */
function killProcess(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

async function attempt(entry: Entry, again: boolean): Promise<void> {
  const startedAt = new Date().toISOString();
  try {
    await entry.operation.send(again);
    entry.answer = "acknowledged";
    entry.log.push(`${startedAt} sent${again ? " again" : ""}, acknowledged ${new Date().toISOString()}`);
  } catch (error) {
    const code = refusalOf(error);
    if (code !== undefined) entry.answer = code;
    entry.log.push(`${startedAt} sent${again ? " again" : ""}, ${new Date().toISOString()}: ${messageOf(error)}`);
  }
}

/** Returns the code of an answer that nothing was done. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof RefusedError) return error.code;
  const { name, $metadata } = error as { name?: string; $metadata?: { readonly httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 0;
  return status >= 400 && status < 500 ? name : undefined;
}

async function violationsOf(entries: readonly Entry[]): Promise<string[]> {
  const found: string[] = [];
  let next = 0;
  const look = async (): Promise<void> => {
    for (let entry = entries[next++]; entry; entry = entries[next++]) {
      const { operation, round, answer, log } = entry;
      if (entry.reported) continue;
      const refused = answer !== "acknowledged" && answer !== "unanswered" && !operation.mayBeRefused;
      const wrong = refused ? `refused with ${answer}` : await judge(entry);
      if (wrong === undefined) continue;
      entry.reported = true;
      found.push([`round ${round}, ${operation.kind} ${operation.id}: ${wrong}`, ...log].join("\n    "));
    }
  };
  await Promise.all(Array.from({ length: 8 }, look));
  return found;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}
