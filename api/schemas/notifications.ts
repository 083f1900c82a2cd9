import * as z from "zod";
import { delivery, eventTypes, notificationSettings, shared } from "../../core/notifications/shapes";
import { nextToken } from "../../core/shapes";

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

export const deliveryPage = z
  .object({ items: z.array(delivery), nextToken })
  .meta({ id: "NotificationDeliveryPage", description: "Deliveries, the newest event first." });
