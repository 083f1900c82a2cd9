import { at, type Clock } from "../../clock";
import type { EmittedEvent, EventSink } from "../../service";
import type { OutboxEntry, Store } from "../store/store";

/** The time that a delivered event stays in the outbox, because the sink may need it to store the event. */
const graceMs = 5000;

/**
 * Delivers status events at least once. An event is on disk together with the change that it reports. It leaves the
 * outbox some time after the sink has accepted it. Remaining events are delivered again after a restart.
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
    // The start of an execution is delivered before its end.
    const beginnings = entries.filter(({ key }) => key.endsWith("/RUNNING"));
    const ends = entries.filter((entry) => !beginnings.includes(entry));
    for (const entry of [...beginnings, ...ends]) this.deliver(entry);
  }

  deliver(entry: OutboxEntry): void {
    const event: EmittedEvent = entry.event;
    // A sink may return a promise in spite of its `void` type. This waits for it.
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
