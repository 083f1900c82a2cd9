import { z } from "zod";
import type { Delivery } from "../../core/notifications/delivery";
import { eventTypes } from "../../core/notifications/event";
import type { NotificationSettings } from "../../core/notifications/settings";
import { count, instant, nextToken } from "./common";

export const eventType = z.enum(eventTypes).meta({ id: "NotificationEventType" });
export const channel = z.enum(["webhook", "topic"]).meta({ id: "NotificationChannel" });

const shared = {
  url: z.string().max(2_000).optional().meta({ description: "Receives a signed POST for each event." }),
  topic: z.boolean().meta({ description: "Whether events are published on the team's SNS topic." }),
  events: z.array(eventType),
  keyGeneration: z.int().min(1).max(1_000_000).meta({ description: "Another number gives another signing key." }),
};

export const notificationSettings = z
  .object({ ...shared, updatedBy: z.string(), updatedAt: instant })
  .meta({ id: "NotificationSettings" }) satisfies z.ZodType<NotificationSettings>;

export const notificationRequest = z
  .strictObject({
    ...shared,
    topic: shared.topic.default(false),
    events: shared.events.default([...eventTypes]),
    keyGeneration: shared.keyGeneration.default(1),
  })
  .meta({ id: "NotificationRequest" });

export const notificationAnswer = z
  .object({
    settings: notificationSettings.optional().meta({ description: "Absent where nothing was ever set." }),
    topicArn: z.string().meta({ description: "The team's SNS topic." }),
  })
  .meta({ id: "NotificationAnswer" });

export const delivery = z
  .object({
    id: z.string().meta({ description: "Of the event: the message's `webhook-id`." }),
    at: instant,
    channel,
    message: z.object({ id: z.string(), type: z.enum([...eventTypes, "test"]), body: z.string() }),
    status: z.enum(["pending", "delivered", "failed", "dropped"]),
    attempts: count,
    dueAt: instant.optional().meta({ description: "Of `pending`: when it is attempted again, at the earliest." }),
    answer: z.string().optional().meta({ description: "What the receiver answered last, or why it was not reached." }),
    answeredAt: instant.optional(),
  })
  .meta({ id: "NotificationDelivery" }) satisfies z.ZodType<Delivery>;

export const deliveryPage = z
  .object({ items: z.array(delivery), nextToken })
  .meta({ id: "NotificationDeliveryPage", description: "Deliveries, the newest event first." });
