import { createHash } from "node:crypto";
import * as z from "zod";
import { account, region } from "../account";
import { ServiceError } from "../wire";
import type { LogFile, StoredEvent } from "./log-file";
import type { LogStore } from "./store";

/**
 * Parses CloudWatch's unstructured filter patterns: terms that are all required, `?term` of which one is required,
 * `-term` which must not occur, and `"quoted phrases"`. Terms are case-sensitive substrings. Patterns on JSON (`{…}`),
 * patterns on fields (`[…]`) and regular expressions (`%…%`) are refused.
 *
 * @throws ServiceError InvalidParameterException
 */
function parseFilterPattern(pattern: string): (message: string) => boolean {
  const trimmed = pattern.trim();
  if (/^[{[%]/.test(trimmed)) {
    throw new ServiceError(
      "InvalidParameterException",
      400,
      `The embedded CloudWatch Logs filters by terms only; the pattern ${JSON.stringify(trimmed)} is of another kind. Use words or "quoted phrases", with ? or - before them.`,
    );
  }
  const all: string[] = [];
  const any: string[] = [];
  const none: string[] = [];
  for (const [, sign, quoted, word] of trimmed.matchAll(/([?-]?)(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)) {
    const term = quoted?.replace(/\\(.)/g, "$1") ?? word!;
    (sign === "?" ? any : sign === "-" ? none : all).push(term);
  }
  return (message) =>
    all.every((term) => message.includes(term)) &&
    (any.length === 0 || any.some((term) => message.includes(term))) &&
    !none.some((term) => message.includes(term));
}

/**
 * The maximum bytes of files that are read for one answer. A page may therefore be short or empty, and its token
 * continues.
 */
const scanBudget = 16 * 1024 ** 2;
const pageBytes = 1024 ** 2;
const maxEvents = 10_000;

interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const within = ({ from, to }: TimeRange, event: StoredEvent) => event.timestamp >= from && event.timestamp <= to;

interface FoundEvent extends StoredEvent {
  readonly stream: string;
}

interface FilterPage {
  readonly events: readonly FoundEvent[];
  readonly nextToken?: string;
}

/** The position of an event among all streams: by order, then stream, then offset. */
type Place = readonly [order: number, stream: string, start: number];

function filterStreams(
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

const groupName = z.string().regex(/^[.\-_/#A-Za-z0-9]{1,512}$/);
const streamName = z.string().regex(/^[^:*]{1,512}$/);
const limit = (most: number) => z.number().int().min(1).max(most).default(most);
const milliseconds = z.number().int().min(0);

const filterInput = z.object({
  logGroupName: groupName.optional(),
  logGroupIdentifier: z.string().min(1).max(2048).optional(),
  logStreamNames: z.array(streamName).min(1).max(100).optional(),
  logStreamNamePrefix: streamName.optional(),
  startTime: milliseconds.default(0),
  endTime: milliseconds.default(Number.MAX_SAFE_INTEGER - 1),
  filterPattern: z.string().max(1024).default(""),
  nextToken: z.string().optional(),
  limit: limit(maxEvents),
});
const groupsInput = z.object({
  logGroupNamePrefix: groupName.default(""),
  nextToken: z.string().regex(/^\d+$/).default("0"),
  limit: limit(50),
});

const invalid = (message: string) => new ServiceError("InvalidParameterException", 400, message);

function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "the request"}: ${message}`);
  throw invalid(`${problems.length} validation error(s) detected: ${problems.join("; ")}`);
}

function groupOf({ logGroupName, logGroupIdentifier }: z.output<typeof filterInput>): string {
  if ((logGroupName === undefined) === (logGroupIdentifier === undefined)) {
    throw invalid("Exactly one of logGroupName and logGroupIdentifier must be given.");
  }
  return logGroupName ?? logGroupIdentifier!.replace(/^arn:[^:]*:logs:[^:]*:[^:]*:log-group:/, "").replace(/:\*$/, "");
}

export type Operation = (input: unknown) => object;

export function logOperations(store: LogStore): Readonly<Record<string, Operation>> {
  return {
    FilterLogEvents: (input) => filterLogEvents(store, input),
    DescribeLogGroups: (input) => describeLogGroups(store, input),
  };
}

function filterLogEvents(store: LogStore, input: unknown): object {
  const requested = parse(filterInput, input);
  const { logStreamNames, logStreamNamePrefix } = requested;
  const group = groupOf(requested);
  if (logStreamNames && logStreamNamePrefix !== undefined) {
    throw invalid("At most one of logStreamNames and logStreamNamePrefix may be given.");
  }
  const streams = logStreamNames
    ? [...new Set(logStreamNames)].map((name) => store.requireStream(group, name))
    : store.listStreams(group, logStreamNamePrefix);
  const page = filterStreams(
    streams,
    { from: requested.startTime, to: requested.endTime },
    parseFilterPattern(requested.filterPattern),
    requested.limit,
    requested.nextToken,
  );
  return {
    events: page.events.map(({ stream, timestamp, message, ingested, start }) => ({
      logStreamName: stream,
      timestamp,
      message,
      ingestionTime: ingested,
      eventId: createHash("sha256").update(`${group}\0${stream}\0${start}`).digest("hex").slice(0, 56),
    })),
    searchedLogStreams: [],
    ...(page.nextToken === undefined ? {} : { nextToken: page.nextToken }),
  };
}

function describeLogGroups(store: LogStore, input: unknown): object {
  const { logGroupNamePrefix: prefix, nextToken, limit: most } = parse(groupsInput, input);
  const groups = store.listGroups().filter(({ name }) => name.startsWith(prefix));
  const end = Number(nextToken) + most;
  return {
    logGroups: groups.slice(Number(nextToken), end).map(({ name, created }) => ({
      logGroupName: name,
      creationTime: created,
      arn: `arn:aws:logs:${region}:${account}:log-group:${name}:*`,
    })),
    ...(end < groups.length && { nextToken: String(end) }),
  };
}
