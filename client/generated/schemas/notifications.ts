// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { Instant } from "./shared";

export interface NotificationAnswer {
  /** Absent where nothing was ever set. */
  readonly settings?: NotificationSettings;
  /** The team's SNS topic. */
  readonly topicArn: string;
}

export type NotificationChannel = "webhook" | "topic";

export interface NotificationDelivery {
  /** Of the event: the message's `webhook-id`. */
  readonly id: string;
  readonly at: Instant;
  readonly channel: NotificationChannel;
  readonly message: {
    readonly id: string;
    readonly type: "run.completed" | "run.failed" | "run.killed" | "approval.needed" | "test";
    readonly body: string;
  };
  readonly status: "pending" | "delivered" | "failed" | "dropped";
  readonly attempts: number;
  /** Of `pending`: when it is attempted again, at the earliest. */
  readonly dueAt?: Instant;
  /** What the receiver answered last, or why it was not reached. */
  readonly answer?: string;
  readonly answeredAt?: Instant;
}

/** Deliveries, the newest event first. */
export interface NotificationDeliveryPage {
  readonly items: readonly NotificationDelivery[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export type NotificationEventType = "run.completed" | "run.failed" | "run.killed" | "approval.needed";

export interface NotificationKey {
  readonly origin: string;
  readonly generation: number;
  readonly key: string;
}

export interface NotificationRequest {
  /** Receives a signed POST for each event. */
  readonly url?: string;
  /** Whether events are published on the team's SNS topic. */
  readonly topic?: boolean;
  readonly events?: readonly NotificationEventType[];
  /** Another number gives another signing key. */
  readonly keyGeneration?: number;
}

export interface NotificationSettings {
  /** Receives a signed POST for each event. */
  readonly url?: string;
  /** Whether events are published on the team's SNS topic. */
  readonly topic: boolean;
  readonly events: readonly NotificationEventType[];
  /** Another number gives another signing key. */
  readonly keyGeneration: number;
  readonly updatedBy: string;
  readonly updatedAt: Instant;
}

export interface NotificationTest {
  readonly results: readonly {
    readonly channel: NotificationChannel;
    readonly accepted: boolean;
    readonly answer: string;
  }[];
}
