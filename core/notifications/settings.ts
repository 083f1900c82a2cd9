import type { EventType } from "./event";

/** Where a team is notified: one row a team. */
export interface NotificationSettings {
  /** Receives a signed POST for each event. */
  readonly url?: string;
  /** Whether events go to the team's SNS topic. */
  readonly topic: boolean;
  readonly events: readonly EventType[];
  /** Which of the receiver's keys signs: another number gives another key. */
  readonly keyGeneration: number;
  readonly updatedBy: string;
  readonly updatedAt: string;
}

export type Channel = "webhook" | "topic";

/** The channels that an event goes to. */
export function channelsOf(settings: NotificationSettings | undefined, type: EventType): readonly Channel[] {
  if (!settings?.events.includes(type)) return [];
  return [
    ...(settings.url === undefined ? [] : (["webhook"] as const)),
    ...(settings.topic ? (["topic"] as const) : []),
  ];
}
