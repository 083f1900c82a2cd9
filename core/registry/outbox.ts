import { RingmasterError } from "../errors";
import type { Clock } from "../ports";
import { approvalNeeded } from "./approvals";
import type { ModelChange } from "./change";
import type { ApprovalNeeded, HistoryEntry } from "./model";
import type { Pointer } from "./pointer";
import type { ResolvedModel } from "./production";
import type { ModelRepository } from "./repository";

export interface ModelEvent extends HistoryEntry {
  readonly team: string;
  readonly model: string;
}

export interface ModelEvents {
  /** Resolves when the event was accepted. */
  publish(event: ModelEvent): Promise<void>;
  publishApprovalNeeded(event: ApprovalNeeded): Promise<void>;
}

/** The unpublished events of all teams, oldest first; eventually consistent. */
export interface OutboxIndex {
  list(
    before: string,
  ): Promise<readonly { readonly team: string; readonly model: string; readonly revision: number }[]>;
}

export interface OutboxDependencies {
  readonly repository: ModelRepository;
  readonly events: ModelEvents;
  readonly pointer: Pick<Pointer<ResolvedModel>, "refresh">;
  readonly routing?: Pick<Pointer<unknown>, "refresh">;
}

/**
 * Processes the effects of each change of a model after it is committed: its event and, if the champion changed, the
 * pointer. At least once, and in order. Each change leaves a row (`EVENT#<revision>`) in its own transaction; the row
 * is deleted when its event was accepted. No process publishes a revision while the previous row exists, so that first
 * publications are in order. Repetitions may arrive late; the revision shows their order.
 *
 * A process that committed and finds the previous row leaves its own row to the publisher of that one, which looks for
 * the next row after it has deleted its own. One of the two sees the other's write, because both read strongly
 * consistently after they wrote. The sweep processes what a dead process left.
 */
export function createOutbox(team: string, { repository, events, pointer, routing }: OutboxDependencies) {
  const isPublished = async (model: string, revision: number): Promise<boolean> =>
    (await repository.findEvent(model, revision)) === undefined;

  async function settle(model: string, entry: HistoryEntry): Promise<void> {
    await refresh(model, entry);
    await events.publish({ ...entry, team, model });
    await publishApprovalNeeded(model, entry);
    await repository.removeEvent(model, entry.revision);
  }

  async function publishApprovalNeeded(model: string, entry: HistoryEntry): Promise<void> {
    if (entry.version === undefined || (entry.action !== "approval-requested" && entry.action !== "gated")) return;
    const head = await repository.find(model);
    const version = await repository.findVersion(model, entry.version);
    const needed = head && version && approvalNeeded(team, entry, head, version);
    if (needed) await events.publishApprovalNeeded(needed);
  }

  async function refresh(model: string, entry: HistoryEntry): Promise<void> {
    if (changesProduction(entry)) await point(() => pointer.refresh(model));
    if (routing && changesRouting(entry)) await point(() => routing.refresh(model));
  }

  /** A pointer that cannot be written (its artifact is missing) does not prevent the event. */
  async function point(refreshed: () => Promise<void>): Promise<void> {
    try {
      await refreshed();
    } catch (error) {
      if (!(error instanceof RingmasterError) || error.retryable) throw error;
    }
  }

  /** Publishes an event whose predecessors are published, then all events that wait for it. */
  async function publishFrom(model: string, first: HistoryEntry): Promise<void> {
    let entry: HistoryEntry | undefined = first;
    while (entry !== undefined) {
      await settle(model, entry);
      entry = await repository.findEvent(model, entry.revision + 1);
    }
  }

  return {
    async committed({ model: { name }, history }: ModelChange): Promise<void> {
      if (await isPublished(name, history.revision - 1)) return publishFrom(name, history);
      // The event waits for the previous one; serving does not.
      await refresh(name, history);
    },

    /** @param indexRevision the revision that the index shows. It may be outdated: deleted since, or not the oldest. */
    async sweep(model: string, indexRevision: number): Promise<void> {
      let revision = indexRevision;
      while (!(await isPublished(model, revision - 1))) revision -= 1;
      const entry = await repository.findEvent(model, revision);
      if (entry) await publishFrom(model, entry);
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;

function changesProduction({ action }: HistoryEntry): boolean {
  return action === "promoted" || action === "rolled-back";
}

/** A canary that leaves its stage loses its traffic. */
function changesRouting(entry: HistoryEntry): boolean {
  const { action, from } = entry;
  return changesProduction(entry) || action === "traffic-set" || action === "deleted" || from === "canary";
}

export interface SweepOptions {
  readonly outboxOf: (team: string) => Outbox;
  readonly clock: Clock;
  /** Time after which no further model is started; milliseconds since the epoch. */
  readonly until: number;
  readonly onError: (model: string, error: unknown) => void;
}

/** Younger events are left to the process that has just written them. */
const graceMs = 5_000;

/** Publishes events that dead processes left, of all teams. A failure for one model, or of the index, throws nothing. */
export async function sweepOutbox(index: OutboxIndex, options: SweepOptions): Promise<void> {
  const { outboxOf, clock, until, onError } = options;
  const seen = new Set<string>();
  const changes = await index.list(new Date(clock.now() - graceMs).toISOString()).catch((error: unknown) => {
    onError("the list of changed models", error);
    return [];
  });
  for (const { team, model, revision } of changes) {
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
