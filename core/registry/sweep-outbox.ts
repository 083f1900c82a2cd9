import type { Outbox, OutboxIndex } from "./outbox";

export interface SweepOptions {
  readonly outboxOf: (team: string) => Outbox;
  /** ISO 8601: younger ones are left to whoever has just written them. */
  readonly before: string;
  readonly now: () => number;
  /** No model is begun after this; milliseconds since the epoch. */
  readonly until: number;
  readonly onError: (model: string, error: unknown) => void;
}

/** Publishes what dead processes left, of all teams. One model's trouble does not keep the others waiting. */
export async function sweepOutbox(index: OutboxIndex, options: SweepOptions): Promise<void> {
  const { outboxOf, before, now, until, onError } = options;
  const seen = new Set<string>();
  for (const { team, model, revision } of await index.list(before)) {
    if (seen.has(`${team}/${model}`)) continue;
    if (now() >= until) return;
    seen.add(`${team}/${model}`);
    try {
      await outboxOf(team).sweep(model, revision);
    } catch (error) {
      onError(`${team}/${model}`, error);
    }
  }
}
