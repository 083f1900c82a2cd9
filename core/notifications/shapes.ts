import * as z from "zod";
import { dataContractBlockedSchema } from "../datasets/contract/blocked";
import { approvalNeededSchema } from "../registry/model";
import { count, instant, type Shape } from "../shapes";
import { runEndedSchema } from "../training/run-ended";

export const eventTypes = [
  "run.completed",
  "run.failed",
  "run.killed",
  "approval.needed",
  "data-contract.blocked",
] as const;
export type EventType = (typeof eventTypes)[number];

export const notableEventSchema = z.discriminatedUnion("type", [
  runEndedSchema,
  approvalNeededSchema,
  dataContractBlockedSchema,
]);
export type NotableEvent = z.infer<typeof notableEventSchema>;

/** The message of a channel: the same bytes for every attempt. */
export interface Message {
  /** Id of the event, by which receivers recognise a repetition. */
  readonly id: string;
  readonly type: EventType | "test";
  readonly body: string;
}

/** Builds the body of a message as Standard Webhooks recommends, with the id for receivers that cannot read headers. */
export function messageOf(event: NotableEvent): Message {
  const { id, type, at, ...data } = event;
  return { id, type, body: JSON.stringify({ id, type, timestamp: at, data }) };
}

export function testMessage(id: string, team: string, at: string): Message {
  return { id, type: "test", body: JSON.stringify({ id, type: "test", timestamp: at, data: { team } }) };
}

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

export function channelsOf(settings: NotificationSettings | undefined, type: EventType): readonly Channel[] {
  if (!settings?.events.includes(type)) return [];
  return [
    ...(settings.url === undefined ? [] : (["webhook"] as const)),
    ...(settings.topic ? (["topic"] as const) : []),
  ];
}

/** The result of an attempt. `retryable`: the same request may succeed later. */
export type AttemptResult =
  | { readonly accepted: true; readonly answer: string }
  | { readonly accepted: false; readonly answer: string; readonly retryable: boolean };

/** Maximum duration of an attempt, its tries and their pauses included. */
export const attemptLeaseMs = 90_000;

const minute = 60_000;
/** Delays before attempts 2, 3, …: 27 hours in total. Each attempt makes three tries. */
const retryDelaysMs: readonly number[] = [5, 30, 120, 300, 600, 600].map((minutes) => minutes * minute);

/** Returns the delivery after an attempt. @param jitter in [0, 1): lengthens a delay by up to a quarter */
export function afterAttempt(delivery: Delivery, result: AttemptResult, now: number, jitter: number): Delivery {
  const { dueAt: _, ...rest } = delivery;
  const attempts = delivery.attempts + 1;
  const ended = { ...rest, attempts, answer: result.answer, answeredAt: new Date(now).toISOString() };
  if (result.accepted) return { ...ended, status: "delivered" };
  const delay = result.retryable ? retryDelaysMs[attempts - 1] : undefined;
  if (delay === undefined) return { ...ended, status: "failed" };
  return { ...ended, status: "pending", dueAt: new Date(now + delay * (1 + jitter / 4)).toISOString() };
}
