// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { NoInput, OperationCall } from "../../operation";
import type {
  NotificationAnswer,
  NotificationDeliveryPage,
  NotificationKey,
  NotificationRequest,
  NotificationTest,
} from "../schemas";

/** What each operation takes and answers. */
export interface NotificationsOperations {
  /** Get the key that signs what the webhook is sent. */
  readonly getNotificationKey: {
    readonly request: NoInput;
    readonly answer: NotificationKey;
    readonly pages: never;
  };
  /** Get where the team is notified. */
  readonly getNotifications: {
    readonly request: NoInput;
    readonly answer: NotificationAnswer;
    readonly pages: never;
  };
  /** Remove the webhook and stop publishing on the topic. */
  readonly removeNotifications: {
    readonly request: NoInput;
    readonly answer: NotificationAnswer;
    readonly pages: never;
  };
  /** Set where the team is notified, and of what. */
  readonly setNotifications: {
    readonly request: {
      readonly body?: NotificationRequest;
    };
    readonly answer: NotificationAnswer;
    readonly pages: never;
  };
  /** List what was sent in the last 30 days, newest event first. */
  readonly listNotificationDeliveries: {
    readonly request: {
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: NotificationDeliveryPage;
    readonly pages: "items";
  };
  /** Send a test message through each channel. */
  readonly testNotifications: {
    readonly request: NoInput;
    readonly answer: NotificationTest;
    readonly pages: never;
  };
}

export const notificationsOperations: Readonly<Record<keyof NotificationsOperations, OperationCall>> = {
  getNotificationKey: { method: "GET", path: "/notifications/key", repeatable: "always" },
  getNotifications: { method: "GET", path: "/notifications", repeatable: "always" },
  removeNotifications: { method: "DELETE", path: "/notifications", repeatable: "always" },
  setNotifications: { method: "PUT", path: "/notifications", repeatable: "always" },
  listNotificationDeliveries: {
    method: "GET",
    path: "/notifications/deliveries",
    repeatable: "always",
    pages: "items",
  },
  testNotifications: { method: "POST", path: "/notifications/test", repeatable: "never" },
};
