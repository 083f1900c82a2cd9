import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../clock";
import type { DurableQueue } from "../durable-queue";
import { createTargetQueue, type ParseSchedule, type TargetMessage, type TargetPorts } from "../events/target";
import { changeDurably, type JsonDatabase } from "../storage/json-database";
import { Ticker } from "../ticker";
import { type Definition, firingInput, nextFiring, parseDefinition, type Schedule } from "./schedule";

export interface Group {
  readonly Name: string;
  readonly CreationDate: number;
  readonly token?: string;
}

export interface SchedulesOptions extends TargetPorts {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly db: JsonDatabase;
  readonly parseSchedule: ParseSchedule;
}

const schedulePrefix = "schedule!";
const groupPrefix = "group!";

export function keyOf({ GroupName, Name }: Pick<Schedule, "GroupName" | "Name">): string {
  return `${GroupName}/${Name}`;
}

/**
 * The schedules and their groups. Each firing is delivered at least once. Its execution name makes a second delivery
 * harmless.
 */
export class Schedules {
  private readonly schedules = new Map<string, Schedule>();
  private readonly groups = new Map<string, Group>();
  private readonly queue: DurableQueue<TargetMessage>;
  private readonly ticker: Ticker;

  constructor(private readonly options: SchedulesOptions) {
    const { clock, db, dataDirectory } = options;
    this.queue = createTargetQueue(options, {
      db,
      clock,
      deadLetters: join(dataDirectory, "scheduler-dead-letters.ndjson"),
    });
    this.ticker = new Ticker(clock, "scheduler", (key, dueAt) => this.fire(key, dueAt));
  }

  /** Loads the schedules. A firing that became due while no process ran happens now, once. */
  async open(): Promise<void> {
    for await (const [key, value] of this.options.db.iterator()) {
      if (key.startsWith(groupPrefix)) this.groups.set((value as Group).Name, value as Group);
      else if (key.startsWith(schedulePrefix)) this.schedules.set(key.slice(schedulePrefix.length), value as Schedule);
    }
    if (!this.groups.has("default")) this.groups.set("default", { Name: "default", CreationDate: this.seconds() });
    await this.queue.open();
    for (const [key, { dueAt }] of this.schedules) this.ticker.set(key, dueAt);
  }

  parse(body: Readonly<Record<string, unknown>>): Definition {
    return parseDefinition(body, this.options.parseSchedule);
  }

  get(key: string): Schedule | undefined {
    return this.schedules.get(key);
  }

  group(name: string): Group | undefined {
    return this.groups.get(name);
  }

  all(): readonly Schedule[] {
    return [...this.schedules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, schedule]) => schedule);
  }

  allGroups(): readonly Group[] {
    return [...this.groups.values()].sort((a, b) => (a.Name < b.Name ? -1 : 1));
  }

  put(schedule: Omit<Schedule, "dueAt">): Promise<void> {
    return this.keep({ ...schedule, dueAt: this.nextFiring(schedule) });
  }

  delete(key: string): Promise<void> {
    return this.change(key, undefined);
  }

  putGroup(group: Group): Promise<void> {
    return changeDurably(this.groups, group.Name, group, () => this.options.db.put(groupPrefix + group.Name, group));
  }

  tick(): void {
    this.ticker.tick();
  }

  /** Returns the time in seconds since the epoch, as in the API. */
  seconds(): number {
    return this.options.clock.now() / 1000;
  }

  async close(): Promise<void> {
    await this.ticker.close();
    await this.queue.close();
  }

  private nextFiring(schedule: Omit<Schedule, "dueAt">): number | undefined {
    return nextFiring(schedule, this.options.clock.now(), this.options.parseSchedule);
  }

  private keep(schedule: Schedule): Promise<void> {
    return this.change(keyOf(schedule), schedule);
  }

  private async change(key: string, schedule: Schedule | undefined): Promise<void> {
    const { db } = this.options;
    this.ticker.set(key, schedule?.dueAt);
    try {
      await changeDurably(this.schedules, key, schedule, () =>
        schedule ? db.put(schedulePrefix + key, schedule) : db.del(schedulePrefix + key),
      );
    } catch (error) {
      const dueAt = this.schedules.get(key)?.dueAt;
      if (dueAt === undefined || dueAt > this.options.clock.now()) this.ticker.set(key, dueAt);
      throw error;
    }
  }

  /**
   * Fires a schedule. The firing is on disk before the next one is recorded. A kill in between repeats the firing with
   * the same id.
   */
  private async fire(key: string, dueAt: number): Promise<void> {
    const schedule = this.schedules.get(key);
    // The schedule was deleted or moved after it was found due.
    if (!schedule || schedule.State === "DISABLED" || schedule.dueAt !== dueAt) return;
    const id = `${key}/${schedule.CreationDate}/${dueAt}`;
    const executionId = createHash("sha256").update(id).digest("hex").slice(0, 32);
    const { Arn, RetryPolicy } = schedule.Target;
    await this.queue.add(id, { arn: Arn, input: firingInput(schedule, dueAt, executionId), retryPolicy: RetryPolicy });
    // The schedule was changed while the firing was written, so its new next time stays.
    if (this.schedules.get(key) !== schedule) return;
    const next = this.nextFiring(schedule);
    if (next === undefined && schedule.ActionAfterCompletion === "DELETE") await this.delete(key);
    else await this.keep({ ...schedule, dueAt: next });
  }
}
