import type { HistoryEntry } from "../../../../core/registry/model";
import { createOutbox, type Outbox } from "../../../../core/registry/outbox";
import { createPointer } from "../../../../core/registry/pointer";
import { createRegistry } from "../../../../core/registry/registry";
import type { ModelRepository } from "../../../../core/registry/repository";
import type { Turn } from "./table";

interface Told {
  readonly revision: number;
  readonly version: number;
}

/** A bus and a bucket that remember: what was told, and what the pointer to the champion has said. */
export class Aftermath {
  /** Revisions in the order in which the bus took them. */
  readonly published: number[] = [];
  readonly violations: string[] = [];
  pointer?: { readonly body: string; readonly tag: string };

  /** What follows from a process's changes. @param turn waits for the process's turn, for ever where it is dead */
  outboxOf(repository: ModelRepository, turn: Turn): Outbox {
    const reader = createRegistry(repository);
    const pointer = createPointer<Told>({
      keyOf: (model) => model,
      pause: () => turn("within"),
      source: {
        async resolve(name) {
          const { model, version } = await reader.champion(name);
          return { revision: model.productionRevision!, version: version.version };
        },
      },
      store: {
        find: async () => {
          await turn("before");
          return this.pointer;
        },
        put: async (_key, body, tag) => {
          await turn("before");
          const taken = this.pointer?.tag === tag;
          if (taken) this.point(body);
          await turn("after");
          return taken;
        },
      },
    });
    const publish = async ({ revision }: HistoryEntry): Promise<void> => {
      await turn("before");
      this.published.push(revision);
      await turn("after");
    };
    const publishApprovalNeeded = async (): Promise<void> => {
      await turn("before");
      await turn("after");
    };
    return createOutbox("default", { repository, pointer, events: { publish, publishApprovalNeeded } });
  }

  private point(body: string): void {
    const before = this.told();
    this.pointer = { body, tag: `${body} ${this.published.length}` };
    if (before && before.revision >= this.told()!.revision)
      this.violations.push(`the pointer went from revision ${before.revision} to ${this.told()!.revision}`);
  }

  told(): Told | undefined {
    return this.pointer && (JSON.parse(this.pointer.body) as Told);
  }

  repeats(): number {
    return this.published.length - new Set(this.published).size;
  }

  /** What is wrong when all is done. @param left rows of the outbox */
  wrongAtTheEnd(model: Champion, left: number): readonly string[] {
    return [...this.violations, ...pointerAndBusViolations(model, this.published, this.told(), left)];
  }
}

interface Champion {
  readonly revision: number;
  readonly production?: number;
  readonly productionRevision?: number;
}

/** @param published revisions as the bus heard of them @param told what the pointer says @param left rows of the outbox */
export function pointerAndBusViolations(
  { revision, production, productionRevision }: Champion,
  published: readonly number[],
  told: Told | undefined,
  left: number,
): readonly string[] {
  const wrong: string[] = [];
  const first = [...new Set(published)];
  const all = Array.from({ length: revision }, (_, at) => at + 1);
  if (first.join() !== all.join()) wrong.push(`the bus first heard of ${first}, and there were ${revision} changes`);
  if (left > 0) wrong.push(`${left} events were left`);
  if (told?.version !== production || told?.revision !== productionRevision)
    wrong.push(`the pointer says ${JSON.stringify(told)}, and ${production} is in production`);
  return wrong;
}
