import * as z from "zod";
import { approvalNeededSchema } from "../registry/approval-needed";
import { runEndedSchema } from "../training/run-ended";

/** Events that a team can be notified of. */
export const eventTypes = ["run.completed", "run.failed", "run.killed", "approval.needed"] as const;
export type EventType = (typeof eventTypes)[number];

export const notableEventSchema = z.discriminatedUnion("type", [runEndedSchema, approvalNeededSchema]);
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

/** Builds a message for testing a channel. */
export function testMessage(id: string, team: string, at: string): Message {
  return { id, type: "test", body: JSON.stringify({ id, type: "test", timestamp: at, data: { team } }) };
}
