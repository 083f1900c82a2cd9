import type { Clock } from "../ports";
import type { Outbox, OutboxIndex } from "./outbox";

export interface SweepOptions {
  readonly outboxOf: (team: string) => Outbox;
  readonly clock: Clock;
  /** No model is begun after this; milliseconds since the epoch. */
  readonly until: number;
  readonly onError: (model: string, error: unknown) => void;
}

/** Younger ones are left to whoever has just written them. */
const graceMs = 5_000;

/** Publishes what dead processes left, of all teams. One model's trouble does not keep the others waiting. */
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
