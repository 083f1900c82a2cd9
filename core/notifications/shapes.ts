import * as z from "zod";
import type { Shape } from "../deep-readonly";
import { count, instant } from "../shapes";
import { eventTypes } from "./event";

export const eventType = z.enum(eventTypes).meta({ id: "NotificationEventType" });

export const channel = z.enum(["webhook", "topic"]).meta({ id: "NotificationChannel" });
export type Channel = Shape<typeof channel>;

export const shared = {
  url: z.string().max(2_000).optional().meta({ description: "Receives a signed POST for each event." }),
  topic: z.boolean().meta({ description: "Whether events are published on the team's SNS topic." }),
  events: z.array(eventType),
  keyGeneration: z.int().min(1).max(1_000_000).meta({ description: "Another number gives another signing key." }),
};

export const notificationSettings = z
  .object({ ...shared, updatedBy: z.string(), updatedAt: instant })
  .meta({ id: "NotificationSettings" });
export interface NotificationSettings extends Shape<typeof notificationSettings> {}

export const delivery = z
  .object({
    id: z.string().meta({ description: "Id of the event: the message's `webhook-id`." }),
    at: instant,
    channel,
    message: z.object({ id: z.string(), type: z.enum([...eventTypes, "test"]), body: z.string() }),
    status: z.enum(["pending", "delivered", "failed", "dropped"]),
    attempts: count,
    dueAt: instant.optional().meta({ description: "Earliest time of the next attempt; present if `pending`." }),
    answer: z
      .string()
      .optional()
      .meta({ description: "Last response of the receiver, or the reason why it was not reached." }),
    answeredAt: instant.optional(),
  })
  .meta({ id: "NotificationDelivery" });
export interface Delivery extends Shape<typeof delivery> {}
