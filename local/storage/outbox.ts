import type { EmittedEvent, EventSink } from "../service";
import type { JsonDatabase, JsonWrite } from "./json-database";

export interface OutboxEntry {
  readonly key: string;
  readonly event: EmittedEvent;
}

/** The time until a refused event is sent again. */
const retryMs = 1_000;

/**
 * The events that a service announces. An event is written together with the change that it announces, and leaves the
 * outbox only after the sink has accepted it. So it is sent at least once, even if the process dies, and in order.
 */
export class Outbox {
  /** The events on disk that the sink has not accepted. */
  private readonly unsent: OutboxEntry[] = [];
  private retry: NodeJS.Timeout | undefined;
  private sequence = 0;

  constructor(
    private readonly db: JsonDatabase,
    private readonly sink: EventSink | undefined,
    /** The prefix of the events' keys, which no other key has. */
    readonly prefix: string,
  ) {}

  async load(): Promise<void> {
    for await (const [key, event] of this.db.iterator({ gt: this.prefix, lt: `${this.prefix}\uffff` })) {
      this.unsent.push({ key, event: event as EmittedEvent });
    }
    // Numbers continue after the old ones. If they started at 0, a new event could replace an old one.
    this.sequence = 1 + Number(this.unsent.at(-1)?.key.slice(this.prefix.length) ?? -1);
  }

  entry(event: EmittedEvent): OutboxEntry {
    const key = this.prefix + String(this.sequence).padStart(15, "0");
    this.sequence += 1;
    return { key, event };
  }

  /** Sends entries that are on disk, after the earlier ones. What the sink refuses, because the disk is full, is sent later. */
  async send(entries: readonly OutboxEntry[] = []): Promise<void> {
    this.unsent.push(...entries);
    const sent: string[] = [];
    try {
      for (let next = this.unsent[0]; next; next = this.unsent[0]) {
        this.sink?.put(next.event);
        sent.push(next.key);
        this.unsent.shift();
      }
    } catch (error) {
      process.stderr.write(`the event bus refused an event: ${error}\n`);
      this.retry ??= setTimeout(() => {
        this.retry = undefined;
        void this.send();
      }, retryMs).unref();
    }
    // An event that stays in the outbox is sent again by the next start.
    if (sent.length > 0) await this.db.batch(sent.map((key) => ({ type: "del", key }))).catch(() => undefined);
  }

  close(): void {
    clearTimeout(this.retry);
  }
}

export const entryWrite = ({ key, event }: OutboxEntry): JsonWrite<EmittedEvent> => ({
  type: "put",
  key,
  value: event,
});
