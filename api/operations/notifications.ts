import * as z from "zod";
import { channel, delivery, eventTypes, notificationSettings, shared } from "../../core/notifications/shapes";
import { operationsFor, pageOf, response } from "../operation";

const notificationRequest = z
  .strictObject({
    ...shared,
    topic: shared.topic.default(false),
    events: shared.events.default([...eventTypes]),
    keyGeneration: shared.keyGeneration.default(1),
  })
  .meta({ id: "NotificationRequest" });

const notificationAnswer = z
  .object({
    settings: notificationSettings.optional().meta({ description: "Absent where nothing was ever set." }),
    topicArn: z.string().meta({ description: "The team's SNS topic." }),
  })
  .meta({ id: "NotificationAnswer" });

const operation = operationsFor("Notifications");
const answered = response("The settings.", notificationAnswer);

export const getNotifications = operation("getNotifications", "GET /notifications", {
  summary: "Get the team's channels of notifications",
  responses: { 200: answered },
});

export const setNotifications = operation("setNotifications", "PUT /notifications", {
  summary: "Set the team's channels and the events that they receive",
  description: "Replaces what was set. The URL must be https and lead to a public address.",
  body: notificationRequest,
  bodyExample: { url: "https://example.com/ringmaster", topic: true, events: ["run.failed", "approval.needed"] },
  responses: { 200: answered },
});

export const removeNotifications = operation("removeNotifications", "DELETE /notifications", {
  summary: "Remove the webhook and stop publishing on the topic",
  description: "Pending deliveries are dropped. The topic and its subscriptions stay.",
  responses: { 200: answered },
});

export const testNotifications = operation("testNotifications", "POST /notifications/test", {
  summary: "Send a test message through each channel",
  description: "One try each, which is not recorded among the deliveries.",
  responses: {
    200: response(
      "The result of each channel.",
      z
        .object({ results: z.array(z.object({ channel, accepted: z.boolean(), answer: z.string() })) })
        .meta({ id: "NotificationTest" }),
    ),
  },
  errors: ["NOTIFICATIONS_NOT_SET"],
});

export const getNotificationKey = operation("getNotificationKey", "GET /notifications/key", {
  scope: "write",
  summary: "Get the key that signs requests to the webhook",
  description: "For the receiver: it verifies `webhook-signature` by the key, as Standard Webhooks has it.",
  responses: {
    200: response(
      "The key in force.",
      z.object({ origin: z.string(), generation: z.int(), key: z.string() }).meta({ id: "NotificationKey" }),
    ),
  },
  errors: ["NOTIFICATIONS_NOT_SET"],
});

export const listNotificationDeliveries = operation("listNotificationDeliveries", "GET /notifications/deliveries", {
  summary: "List the deliveries of the last 30 days, newest event first",
  ...pageOf({ id: "NotificationDeliveryPage", description: "Deliveries, the newest event first." }, delivery),
});
