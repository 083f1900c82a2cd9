import { type EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { modelChanged } from "../../core/platform/event-names";
import type { ModelEvents } from "../../core/registry/outbox";

/** Model events on the account's default bus. @throws where EventBridge does not accept one: it is published again */
export function createModelEvents(client: EventBridgeClient, platform: string): ModelEvents {
  return {
    async publish(event) {
      const { Entries = [] } = await client.send(
        new PutEventsCommand({
          // One a call: EventBridge may take some of a call and refuse others.
          Entries: [{ ...modelChanged, Time: new Date(event.at), Detail: JSON.stringify({ platform, ...event }) }],
        }),
      );
      const { EventId, ErrorCode, ErrorMessage } = Entries[0] ?? {};
      if (EventId === undefined)
        throw new Error(
          `EventBridge did not accept revision ${event.revision} of ${event.model}: ${ErrorCode}, ${ErrorMessage}`,
        );
    },
  };
}
