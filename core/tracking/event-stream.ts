import type { FollowEvent } from "./follow";

/** Sent once at the start: how long a client waits before it comes again. */
export const streamStart = "retry: 2000\n\n";

/** An event as text/event-stream has it (HTML standard, 9.2). JSON has no line breaks, so that data are always one line. */
export function eventText(event: FollowEvent): string {
  if (event.event === "heartbeat") return ": heartbeat\n\n";
  const id = "id" in event ? `id: ${event.id}\n` : "";
  return `${id}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;
}
