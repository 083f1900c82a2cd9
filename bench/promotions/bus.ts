import type { ModelEvent } from "../../core/registry/outbox";
import type { Service } from "../../local/service";
import { readBody, sendJson } from "../../local/wire";
import { modelChanged } from "../../platform/event-names";

export interface Bus {
  /** EventBridge's PutEvents, and no more. It remembers changes of models. */
  readonly service: Service;
  /** A model's events in the order in which they were accepted. */
  of(model: string): readonly ModelEvent[];
  forget(model: string): void;
}

/** A bus that remembers what it was told. */
export function createBus(): Bus {
  const told = new Map<string, ModelEvent[]>();
  return {
    service: {
      signingName: "events",
      async handle(request, response) {
        const body = JSON.parse((await readBody(request, 1_000_000)).toString()) as {
          readonly Entries: readonly { readonly DetailType: string; readonly Detail: string }[];
        };
        const events = body.Entries.filter(({ DetailType }) => DetailType === modelChanged.DetailType).map(
          ({ Detail }) => JSON.parse(Detail) as ModelEvent,
        );
        for (const event of events) told.set(event.model, [...(told.get(event.model) ?? []), event]);
        sendJson(response, 200, { FailedEntryCount: 0, Entries: body.Entries.map((_, at) => ({ EventId: `${at}` })) });
      },
      close: () => Promise.resolve(),
    },
    of: (model) => told.get(model) ?? [],
    forget: (model) => void told.delete(model),
  };
}
