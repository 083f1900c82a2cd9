import { RingmasterError } from "../errors";
import { type ApprovalNeeded, approvalNeeded } from "./approval-needed";
import type { ModelChange } from "./change";
import type { HistoryEntry } from "./model";
import type { Pointer } from "./pointer";
import type { ResolvedModel } from "./production";
import type { ModelRepository } from "./repository";

/** A line of a model's history, as others hear of it. */
export interface ModelEvent extends HistoryEntry {
  readonly team: string;
  readonly model: string;
}

/** The port to EventBridge. */
export interface ModelEvents {
  /** Resolves when it was accepted. */
  publish(event: ModelEvent): Promise<void>;
  /** As `publish`. */
  publishApprovalNeeded(event: ApprovalNeeded): Promise<void>;
}

/** What is left to do in some team, oldest first; as of a moment ago. */
export interface OutboxIndex {
  list(
    before: string,
  ): Promise<readonly { readonly team: string; readonly model: string; readonly revision: number }[]>;
}

/** Ports of what follows from a change. */
export interface OutboxDependencies {
  readonly repository: ModelRepository;
  readonly events: ModelEvents;
  /** To the champion. */
  readonly pointer: Pick<Pointer<ResolvedModel>, "refresh">;
  /** To who answers whom. */
  readonly routing?: Pick<Pointer<unknown>, "refresh">;
}

/**
 * What follows from each change of a model, once it is made: its event and, where the champion changed, the pointer. At least once, and in order: each
 * change leaves a row (`EVENT#<revision>`) in its own transaction, and the row goes when its event was accepted. Nobody publishes a revision while the
 * row before it is there, so that the first telling of each comes after that of the one before. Repetitions may come late; the revision tells.
 *
 * Whoever committed and finds the row before still there leaves his own to him who publishes that one: he looks for the next when he has removed his.
 * One of the two sees the other's write, because both read strongly after they wrote. What a dead process left is the sweep's.
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

  /** What cannot be pointed to (its artifact is gone) is no reason not to tell of it. */
  async function point(refreshed: () => Promise<void>): Promise<void> {
    try {
      await refreshed();
    } catch (error) {
      if (!(error instanceof RingmasterError) || error.retryable) throw error;
    }
  }

  /** Publishes one, whose predecessors are published, and all that waits behind it. */
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
      // The event waits for the one before it; serving does not.
      await refresh(name, history);
    },

    /** @param found the revision that the index shows, which may be old news: gone by now, or not the oldest */
    async sweep(model: string, found: number): Promise<void> {
      let revision = found;
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

/** A canary that leaves its stage leaves its units. */
function changesRouting(entry: HistoryEntry): boolean {
  const { action, from } = entry;
  return changesProduction(entry) || action === "traffic-set" || action === "deleted" || from === "canary";
}
