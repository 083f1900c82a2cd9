import type { EventType } from "./event";
import type { Channel, NotificationSettings } from "./shapes";

export type { Channel, NotificationSettings } from "./shapes";

/** Returns the channels for an event. */
export function channelsOf(settings: NotificationSettings | undefined, type: EventType): readonly Channel[] {
  if (!settings?.events.includes(type)) return [];
  return [
    ...(settings.url === undefined ? [] : (["webhook"] as const)),
    ...(settings.topic ? (["topic"] as const) : []),
  ];
}
