import { ServiceError } from "../wire";
import type { LogFile } from "./log-file";
import type { StoredEvent } from "./log-record";

/**
 * The maximum bytes of files that are read for one answer. A page may therefore be short or empty, and its token
 * continues.
 */
const scanBudget = 16 * 1024 ** 2;
/** The maximum bytes of messages in one answer. */
const pageBytes = 1024 ** 2;
export const maxEvents = 10_000;

export interface TimeRange {
  /** The first millisecond of the range. */
  readonly from: number;
  /** The last millisecond of the range. */
  readonly to: number;
}

const within = ({ from, to }: TimeRange, event: StoredEvent) => event.timestamp >= from && event.timestamp <= to;

export interface FoundEvent extends StoredEvent {
  readonly stream: string;
}

export interface FilterPage {
  readonly events: readonly FoundEvent[];
  readonly nextToken?: string;
}

/** The position of an event among all streams: by order, then stream, then offset. */
type Place = readonly [order: number, stream: string, start: number];

/** Returns a page of the matching events of many streams, merged by time. */
export function filterStreams(
  streams: readonly LogFile[],
  range: TimeRange,
  passes: (message: string) => boolean,
  limit: number,
  token: string | undefined,
): FilterPage {
  const after = token === undefined ? undefined : parseFilterToken(token);
  const events: FoundEvent[] = [];
  let bytes = 0;
  let scanned = 0;
  let last = after;
  for (const event of merge(streams, Math.max(range.from, after?.[0] ?? 0), after)) {
    const full = events.length >= limit || bytes + event.message.length > pageBytes;
    if (full || scanned > scanBudget) return { events, nextToken: filterToken(last!) };
    scanned += event.end - event.start;
    last = placeOf(event);
    if (!within(range, event) || !passes(event.message)) continue;
    events.push(event);
    bytes += event.message.length;
  }
  return { events };
}

/** Yields the events of all streams from an order on and after a position, in the order of positions. */
function* merge(streams: readonly LogFile[], order: number, after: Place | undefined): Generator<FoundEvent> {
  const heads: { readonly reader: Generator<StoredEvent>; event: FoundEvent }[] = [];
  for (const stream of streams) {
    const { name } = stream.header;
    const reader = stream.forward(stream.seek(order));
    let next = reader.next();
    while (!next.done && after && comparePlaces([next.value.order, name, next.value.start], after) <= 0)
      next = reader.next();
    if (!next.done) heads.push({ reader, event: { ...next.value, stream: name } });
  }
  while (heads.length > 0) {
    let least = 0;
    for (let i = 1; i < heads.length; i++) {
      if (comparePlaces(placeOf(heads[i]!.event), placeOf(heads[least]!.event)) < 0) least = i;
    }
    const head = heads[least]!;
    yield head.event;
    const next = head.reader.next();
    if (next.done) heads.splice(least, 1);
    else head.event = { ...next.value, stream: head.event.stream };
  }
}

const placeOf = ({ order, stream, start }: FoundEvent): Place => [order, stream, start];

function comparePlaces(a: Place, b: Place): number {
  return a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0) || a[2] - b[2];
}

const filterToken = (place: Place) => Buffer.from(JSON.stringify(place)).toString("base64url");

function parseFilterToken(token: string): Place {
  try {
    const place = JSON.parse(Buffer.from(token, "base64url").toString()) as Place;
    if (typeof place[0] === "number" && typeof place[1] === "string" && typeof place[2] === "number") return place;
  } catch {}
  throw new ServiceError("InvalidParameterException", 400, "The specified nextToken is invalid.");
}
