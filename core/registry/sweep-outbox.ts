import type { Clock } from "../ports";
import type { Outbox, OutboxIndex } from "./outbox";

export interface SweepOptions {
  readonly outboxOf: (team: string) => Outbox;
  readonly clock: Clock;
  /** Time after which no further model is started; milliseconds since the epoch. */
  readonly until: number;
  readonly onError: (model: string, error: unknown) => void;
}

/** Younger events are left to the process that has just written them. */
const graceMs = 5_000;

/** Publishes events that dead processes left, of all teams. A failure for one model does not affect others. */
export async function sweepOutbox(index: OutboxIndex, options: SweepOptions): Promise<void> {
  const { outboxOf, clock, until, onError } = options;
  const seen = new Set<string>();
  for (const { team, model, revision } of await index.list(new Date(clock.now() - graceMs).toISOString())) {
    const name = `${team}/${model}`;
    if (seen.has(name)) continue;
    if (clock.now() >= until) return;
    seen.add(name);
    try {
      await outboxOf(team).sweep(model, revision);
    } catch (error) {
      onError(name, error);
    }
  }
}
