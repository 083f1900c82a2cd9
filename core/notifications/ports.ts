import type { AttemptResult, Delivery, Message, NotificationSettings } from "./shapes";

export interface NotificationRepository {
  findSettings(): Promise<NotificationSettings | undefined>;
  putSettings(settings: NotificationSettings): Promise<void>;
  /** Stores a new delivery; returns false if the event already has one for the channel. */
  create(delivery: Delivery): Promise<boolean>;
  /** Reserves a pending delivery until `dueAt`; returns false if it has changed since it was read. */
  claim(delivery: Delivery, dueAt: string): Promise<boolean>;
  /** Records an attempt's result; does nothing if the delivery has ended. */
  record(delivery: Delivery): Promise<void>;
  /** Lists deliveries, newest first. */
  list(page: { readonly limit: number; readonly nextToken?: string }): Promise<{
    readonly items: readonly Delivery[];
    readonly nextToken?: string;
  }>;
}

/** Pending deliveries of all teams, oldest first; eventually consistent. */
export interface DueDeliveries {
  list(before: string): Promise<readonly { readonly team: string; readonly delivery: Delivery }[]>;
}

export interface Webhooks {
  /** Posts a signed message. Never rejects because of the receiver. @param tries maximum, with pauses between them */
  post(url: string, key: Uint8Array, message: Message, tries: number): Promise<AttemptResult>;
  /** Returns why a URL cannot be used; `undefined` if it can. */
  problemOf(url: string): Promise<string | undefined>;
}

export interface TeamTopic {
  readonly arn: string;
  /** Never rejects because of SNS's response. */
  publish(message: Message): Promise<AttemptResult>;
}
