import type { AttemptResult, Delivery } from "./delivery";
import type { Message } from "./event";
import type { NotificationSettings } from "./settings";

/** The port to a team's notification settings and deliveries; docs/access-patterns.md, "Notifications". */
export interface NotificationRepository {
  findSettings(): Promise<NotificationSettings | undefined>;
  putSettings(settings: NotificationSettings): Promise<void>;
  /** Keeps a new delivery. False where the event has one for the channel. */
  create(delivery: Delivery): Promise<boolean>;
  /** Takes a pending delivery over until `dueAt`. False where it is no longer as it was read. */
  claim(delivery: Delivery, dueAt: string): Promise<boolean>;
  /** Records what an attempt came to; nothing where the delivery has ended. */
  record(delivery: Delivery): Promise<void>;
  /** Newest first. */
  list(page: { readonly limit: number; readonly nextToken?: string }): Promise<{
    readonly items: readonly Delivery[];
    readonly nextToken?: string;
  }>;
}

/** Pending deliveries of all teams, oldest first; eventually consistent. */
export interface DueDeliveries {
  list(before: string): Promise<readonly { readonly team: string; readonly delivery: Delivery }[]>;
}

/** The port to webhooks. */
export interface Webhooks {
  /**
   * Posts a message, signed. Never rejects for what the receiver does.
   * @param tries at most; with a pause between them
   */
  post(url: string, key: Uint8Array, message: Message, tries: number): Promise<AttemptResult>;
  /** Why a URL cannot be posted to; `undefined` where it can. */
  problemOf(url: string): Promise<string | undefined>;
}

/** The port to the topic of one team. */
export interface TeamTopic {
  readonly arn: string;
  /** Never rejects for what SNS answers. */
  publish(message: Message): Promise<AttemptResult>;
}
