import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { account, region } from "../account";
import type { Clock } from "../clock";
import { derivedUuid } from "../derived-uuid";
import type { DurableQueue } from "../durable-queue";
import type { EmittedEvent } from "../service";
import { Journal } from "../storage/journal";
import type { JsonDatabase } from "../storage/json-database";
import { Ticker } from "../ticker";
import { type Rule, type Rules, ruleArn } from "./rules";
import { createTargetQueue, type TargetMessage, type TargetPorts } from "./target";

export interface BusEvent {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": string;
  readonly source: string;
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

export interface BusOptions extends TargetPorts {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly db: JsonDatabase;
  readonly rules: Rules;
}

/** The time until a failed routing is repeated. */
const repeatMs = 1_000;

/**
 * The default event bus. An event is written to the journal before it is acknowledged. It is then routed into one
 * delivery per matching target, and each is made at least once. Deliveries survive the process. Their ids consist of
 * event, rule and target, so routing an event again adds nothing.
 */
export class Bus {
  private readonly journal: Journal<BusEvent>;
  private readonly queue: DurableQueue<TargetMessage>;
  private readonly ticker: Ticker;
  private unrouted: BusEvent[] = [];
  private routing: Promise<void> = Promise.resolve();
  private open = false;
  private repeat: (() => void) | undefined;

  constructor(private readonly options: BusOptions) {
    const { dataDirectory, clock, db } = options;
    this.journal = new Journal<BusEvent>(join(dataDirectory, "events-journal.ndjson"));
    this.unrouted.push(...this.journal.recover());
    this.queue = createTargetQueue(options, {
      db,
      clock,
      deadLetters: join(dataDirectory, "events-dead-letters.ndjson"),
    });
    this.ticker = new Ticker(clock, "events", (name, dueAt) => this.fire(name, dueAt));
  }

  async start(): Promise<void> {
    await this.queue.open();
    for (const { Name } of this.options.rules.all()) this.ticker.set(Name, this.options.rules.dueAt(Name));
    this.open = true;
    this.pump();
  }

  /** Returns whether a rule matches the event. Before the rules are known, every event may match one. */
  matches(event: BusEvent): boolean {
    return !this.open || this.options.rules.matching({ ...event }).length > 0;
  }

  /** Accepts events. Those that match a rule are on disk when it returns. */
  put(given: readonly BusEvent[]): void {
    const events = given.filter((event) => this.matches(event));
    if (events.length === 0) return;
    this.journal.append(events);
    this.unrouted.push(...events);
    this.pump();
  }

  stamp(event: EmittedEvent, time = this.options.clock.now()): BusEvent {
    return {
      version: "0",
      id: randomUUID(),
      "detail-type": event.detailType,
      source: event.source,
      account,
      time: new Date(time).toISOString().replace(/\.\d+Z$/, "Z"),
      region,
      resources: event.resources,
      detail: event.detail,
    };
  }

  async schedule(name: string): Promise<void> {
    const dueAt = this.options.rules.nextFire(name, this.options.clock.now());
    if (dueAt !== this.options.rules.dueAt(name)) await this.options.rules.setDue(name, dueAt);
    this.ticker.set(name, dueAt);
  }

  tick(): void {
    this.ticker.tick();
  }

  async close(): Promise<void> {
    this.open = false;
    await Promise.all([this.routing, this.ticker.close()]);
    this.repeat?.();
    await this.queue.close();
    this.journal.close();
  }

  /**
   * Fires a rule. The firing is on disk before the rule's next one is recorded. A kill in between repeats the firing
   * with the same id.
   */
  private async fire(name: string, dueAt: number): Promise<void> {
    const rule = this.options.rules.get(name);
    if (rule?.State === "ENABLED") {
      const event = { source: "aws.events", detailType: "Scheduled Event", resources: [ruleArn(name)], detail: {} };
      // The same firing has the same id.
      const stamped = { ...this.stamp(event, dueAt), id: derivedUuid(`${name} ${dueAt}`) };
      await this.queue.addAll(messagesFor(stamped, rule));
    }
    await this.schedule(name);
  }

  private pump(): void {
    if (!this.open || this.unrouted.length === 0) return;
    const events = this.unrouted;
    this.unrouted = [];
    this.routing = this.routing
      .then(() =>
        this.queue.addAll(
          events.flatMap((event) =>
            this.options.rules.matching({ ...event }).flatMap((rule) => messagesFor(event, rule)),
          ),
        ),
      )
      .then(() => this.journal.routed(events.length))
      .catch((error) => {
        process.stderr.write(`events: ${error}\n`);
        // The events stay in the journal. Routing is repeated, because the disk may have space later.
        this.unrouted = [...events, ...this.unrouted];
        this.repeat?.();
        this.repeat = this.options.clock.schedule(repeatMs, () => this.pump());
      });
  }
}

function messagesFor(event: BusEvent, rule: Rule): readonly { id: string; item: TargetMessage }[] {
  return rule.targets.map(({ Id, Arn, Input = JSON.stringify(event), RetryPolicy }) => ({
    id: `${event.id}/${rule.Name}/${Id}`,
    item: { arn: Arn, input: Input, retryPolicy: RetryPolicy },
  }));
}
