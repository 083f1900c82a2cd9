import type { Clock } from "../../clock";
import type { EmittedEvent, EventSink } from "../../service";
import type { OutboxEntry, Store } from "../store/store";
import { at } from "./due";

/** How long a delivered event stays in the outbox: the sink may need so long to write it down itself. */
const graceMs = 5000;

/**
 * Delivers status events at least once: an event is on disk with the change that it tells of, and leaves the outbox only some
 * time after the sink has taken it. What is still there at a restart is delivered again.
 */
export class Outbox {
  private readonly timers = new Set<() => void>();

  constructor(
    private readonly store: Store,
    private readonly sink: EventSink,
    private readonly clock: Clock,
  ) {}

  async restore(): Promise<void> {
    const entries = await this.store.outbox();
    // An execution's beginning is told before its end.
    const beginnings = entries.filter(({ key }) => key.endsWith("/RUNNING"));
    const ends = entries.filter((entry) => !beginnings.includes(entry));
    for (const entry of [...beginnings, ...ends]) this.deliver(entry);
  }

  deliver(entry: OutboxEntry): void {
    const event: EmittedEvent = entry.event;
    // A sink may be asynchronous behind its `void`: whatever it returns is waited for.
    void Promise.resolve()
      .then(() => this.sink.put(event) as unknown)
      .then(
        () => this.later(() => this.store.delivered(entry.key).catch(() => undefined)),
        () => this.later(() => this.deliver(entry)),
      );
  }

  close(): void {
    for (const cancel of this.timers) cancel();
    this.timers.clear();
  }

  private later(action: () => unknown): void {
    const cancel = at(this.clock, this.clock.now() + graceMs, () => {
      this.timers.delete(cancel);
      void action();
    });
    this.timers.add(cancel);
  }
}
