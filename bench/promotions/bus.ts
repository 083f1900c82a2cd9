import type { ModelEvent } from "../../core/registry/outbox";
import type { Service } from "../../local/service";
import { readBody, sendJson } from "../../local/wire";
import { modelChanged } from "../../platform/event-names";

export interface Bus {
  /** Implements only EventBridge's PutEvents. It records changes of models. */
  readonly service: Service;
  /** Returns a model's events in the order of acceptance. */
  of(model: string): readonly ModelEvent[];
  forget(model: string): void;
}

export function createBus(): Bus {
  const published = new Map<string, ModelEvent[]>();
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
        for (const event of events) published.set(event.model, [...(published.get(event.model) ?? []), event]);
        sendJson(response, 200, { FailedEntryCount: 0, Entries: body.Entries.map((_, at) => ({ EventId: `${at}` })) });
      },
      close: () => Promise.resolve(),
    },
    of: (model) => published.get(model) ?? [],
    forget: (model) => void published.delete(model),
  };
}
