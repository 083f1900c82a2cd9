import * as z from "zod";
import type { HistoryEntry } from "../../../../core/registry/model";
import { createOutbox, type Outbox } from "../../../../core/registry/outbox";
import { createPointer } from "../../../../core/registry/pointer";
import { createRegistry } from "../../../../core/registry/registry";
import type { ModelRepository } from "../../../../core/registry/repository";
import type { Turn } from "./table";

interface Pointed {
  readonly revision: number;
  readonly version: number;
}

/** A bus and a bucket that remember: the published events, and the pointer to the champion. */
export class Aftermath {
  /** Revisions in the order in which the bus took them. */
  readonly published: number[] = [];
  readonly violations: string[] = [];
  pointer?: { readonly body: string; readonly tag: string };

  /**
   * Returns the outbox of a process.
   *
   * @param turn waits for the process's turn, forever if it is dead
   */
  outboxOf(repository: ModelRepository, turn: Turn): Outbox {
    const reader = createRegistry(repository);
    const pointer = createPointer<Pointed>({
      keyOf: (model) => model,
      kind: { name: "a pointer", schema: z.object({ revision: z.int(), version: z.int() }), maxBytes: 1_000 },
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
    const before = this.pointed();
    this.pointer = { body, tag: `${body} ${this.published.length}` };
    if (before && before.revision >= this.pointed()!.revision)
      this.violations.push(`the pointer went from revision ${before.revision} to ${this.pointed()!.revision}`);
  }

  pointed(): Pointed | undefined {
    return this.pointer && (JSON.parse(this.pointer.body) as Pointed);
  }

  repeats(): number {
    return this.published.length - new Set(this.published).size;
  }

  /**
   * Returns the violations at the end.
   *
   * @param left rows of the outbox
   */
  wrongAtTheEnd(model: Champion, left: number): readonly string[] {
    return [...this.violations, ...pointerAndBusViolations(model, this.published, this.pointed(), left)];
  }
}

interface Champion {
  readonly revision: number;
  readonly production?: number;
  readonly productionRevision?: number;
}

/** @param published revisions as the bus heard of them @param pointed what the pointer says @param left rows of the outbox */
export function pointerAndBusViolations(
  { revision, production, productionRevision }: Champion,
  published: readonly number[],
  pointed: Pointed | undefined,
  left: number,
): readonly string[] {
  const wrong: string[] = [];
  const first = [...new Set(published)];
  const all = Array.from({ length: revision }, (_, at) => at + 1);
  if (first.join() !== all.join()) wrong.push(`the bus first heard of ${first}, and there were ${revision} changes`);
  if (left > 0) wrong.push(`${left} events were left`);
  if (pointed?.version !== production || pointed?.revision !== productionRevision)
    wrong.push(`the pointer says ${JSON.stringify(pointed)}, and ${production} is in production`);
  return wrong;
}
