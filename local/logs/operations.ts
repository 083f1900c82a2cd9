import { createHash } from "node:crypto";
import * as z from "zod";
import { account, region } from "../account";
import type { Time } from "../clock";
import { ServiceError } from "../wire";
import { parseFilterPattern } from "./filter-pattern";
import type { LogFile } from "./log-file";
import { filterStreams, maxEvents, readStream } from "./read-events";
import type { LogStore } from "./store";

const groupName = z.string().regex(/^[.\-_/#A-Za-z0-9]{1,512}$/);
const streamName = z.string().regex(/^[^:*]{1,512}$/);
const limit = (most: number) => z.number().int().min(1).max(most).default(most);
const milliseconds = z.number().int().min(0);

/** A group's name or ARN. */
const groupReference = {
  logGroupName: groupName.optional(),
  logGroupIdentifier: z.string().min(1).max(2048).optional(),
};

const inputs = {
  createLogGroup: z.object({ logGroupName: groupName }),
  createLogStream: z.object({ logGroupName: groupName, logStreamName: streamName }),
  putLogEvents: z.object({
    logGroupName: groupName,
    logStreamName: streamName,
    logEvents: z
      .array(z.object({ timestamp: milliseconds, message: z.string().min(1) }))
      .min(1)
      .max(10_000),
  }),
  getLogEvents: z.object({
    ...groupReference,
    logStreamName: streamName,
    startTime: milliseconds.default(0),
    endTime: milliseconds.default(Number.MAX_SAFE_INTEGER),
    nextToken: z.string().optional(),
    limit: limit(maxEvents),
    startFromHead: z.boolean().default(false),
  }),
  filterLogEvents: z.object({
    ...groupReference,
    logStreamNames: z.array(streamName).min(1).max(100).optional(),
    logStreamNamePrefix: streamName.optional(),
    startTime: milliseconds.default(0),
    endTime: milliseconds.default(Number.MAX_SAFE_INTEGER - 1),
    filterPattern: z.string().max(1024).default(""),
    nextToken: z.string().optional(),
    limit: limit(maxEvents),
  }),
  describeLogGroups: z.object({
    logGroupNamePrefix: groupName.optional(),
    logGroupNamePattern: groupName.optional(),
    nextToken: z.string().optional(),
    limit: limit(50),
  }),
  describeLogStreams: z.object({
    ...groupReference,
    logStreamNamePrefix: streamName.optional(),
    orderBy: z.enum(["LogStreamName", "LastEventTime"]).default("LogStreamName"),
    descending: z.boolean().default(false),
    nextToken: z.string().optional(),
    limit: limit(50),
  }),
} as const;

const invalid = (message: string) => new ServiceError("InvalidParameterException", 400, message);

function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "the request"}: ${message}`);
  throw invalid(`${problems.length} validation error(s) detected: ${problems.join("; ")}`);
}

function groupOf(input: {
  readonly logGroupName?: string | undefined;
  readonly logGroupIdentifier?: string | undefined;
}): string {
  const { logGroupName, logGroupIdentifier } = input;
  if ((logGroupName === undefined) === (logGroupIdentifier === undefined)) {
    throw invalid("Exactly one of logGroupName and logGroupIdentifier must be given.");
  }
  return logGroupName ?? logGroupIdentifier!.replace(/^arn:[^:]*:logs:[^:]*:[^:]*:log-group:/, "").replace(/:\*$/, "");
}

const arnOf = (group: string) => `arn:aws:logs:${region}:${account}:log-group:${group}`;

export type Operation = (input: unknown) => object;

/** Returns the implemented operations of `Logs_20140328` by name. */
export function logOperations(store: LogStore, clock: Time): Readonly<Record<string, Operation>> {
  return {
    CreateLogGroup: (input) => {
      store.createGroup(parse(inputs.createLogGroup, input).logGroupName, clock.now());
      return {};
    },
    CreateLogStream: (input) => {
      const { logGroupName, logStreamName } = parse(inputs.createLogStream, input);
      store.createStream(logGroupName, logStreamName, clock.now());
      return {};
    },
    PutLogEvents: (input) => putLogEvents(store, clock, input),
    GetLogEvents: (input) => {
      const requested = parse(inputs.getLogEvents, input);
      const stream = store.requireStream(groupOf(requested), requested.logStreamName);
      const range = { from: requested.startTime, to: requested.endTime };
      const page = readStream(stream, range, requested.limit, requested.startFromHead, requested.nextToken);
      return {
        events: page.events.map(({ timestamp, message, ingested }) => ({
          timestamp,
          message,
          ingestionTime: ingested,
        })),
        nextForwardToken: page.forwardToken,
        nextBackwardToken: page.backwardToken,
      };
    },
    FilterLogEvents: (input) => filterLogEvents(store, input),
    DescribeLogGroups: (input) => describeLogGroups(store, input),
    DescribeLogStreams: (input) => describeLogStreams(store, input),
  };
}

const maxBatchBytes = 1_048_576;
const eventOverhead = 26;
const hour = 3_600_000;

function putLogEvents(store: LogStore, clock: Time, input: unknown): object {
  const { logGroupName, logStreamName, logEvents } = parse(inputs.putLogEvents, input);
  const stream = store.requireStream(logGroupName, logStreamName);
  const bytes = logEvents.reduce((sum, event) => sum + Buffer.byteLength(event.message) + eventOverhead, 0);
  if (bytes > maxBatchBytes) throw invalid(`Upload too large: ${bytes} bytes exceeds limit of ${maxBatchBytes}`);
  if (logEvents.some((event, index) => index > 0 && event.timestamp < logEvents[index - 1]!.timestamp)) {
    throw invalid("Log events in a single PutLogEvents request must be in chronological order.");
  }
  if (logEvents.at(-1)!.timestamp - logEvents[0]!.timestamp > 24 * hour) {
    throw invalid("The batch of log events in a single PutLogEvents request cannot span more than 24 hours.");
  }
  const now = clock.now();
  const tooOldEnd = logEvents.findLastIndex(({ timestamp }) => timestamp < now - 14 * 24 * hour) + 1;
  const tooNewStart = logEvents.findIndex(({ timestamp }) => timestamp > now + 2 * hour);
  const end = tooNewStart < 0 ? logEvents.length : tooNewStart;
  if (end > tooOldEnd) stream.append(logEvents.slice(tooOldEnd, end), now);
  if (tooOldEnd === 0 && tooNewStart < 0) return {};
  return {
    rejectedLogEventsInfo: {
      ...(tooOldEnd > 0 ? { tooOldLogEventEndIndex: tooOldEnd } : {}),
      ...(tooNewStart < 0 ? {} : { tooNewLogEventStartIndex: tooNewStart }),
    },
  };
}

function filterLogEvents(store: LogStore, input: unknown): object {
  const requested = parse(inputs.filterLogEvents, input);
  const { logStreamNames, logStreamNamePrefix } = requested;
  const group = groupOf(requested);
  if (logStreamNames && logStreamNamePrefix !== undefined) {
    throw invalid("At most one of logStreamNames and logStreamNamePrefix may be given.");
  }
  const streams = logStreamNames
    ? [...new Set(logStreamNames)].map((name) => store.requireStream(group, name))
    : store.listStreams(group, logStreamNamePrefix);
  // The end is inclusive here, unlike in GetLogEvents.
  const range = { from: requested.startTime, to: requested.endTime + 1 };
  const page = filterStreams(
    streams,
    range,
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
  const requested = parse(inputs.describeLogGroups, input);
  const { logGroupNamePrefix: prefix = "", logGroupNamePattern: pattern = "" } = requested;
  const found = store
    .listGroups()
    .filter(({ name }) => name.startsWith(prefix) && name.toLowerCase().includes(pattern.toLowerCase()));
  const { page, nextToken } = takePage(found, requested.limit, requested.nextToken);
  return {
    logGroups: page.map(({ name, created }) => ({
      logGroupName: name,
      creationTime: created,
      metricFilterCount: 0,
      arn: `${arnOf(name)}:*`,
      logGroupArn: arnOf(name),
      logGroupClass: "STANDARD",
      storedBytes: store.sizeOf(name),
    })),
    nextToken,
  };
}

function describeLogStreams(store: LogStore, input: unknown): object {
  const requested = parse(inputs.describeLogStreams, input);
  const group = groupOf(requested);
  if (requested.orderBy === "LastEventTime" && requested.logStreamNamePrefix !== undefined) {
    throw invalid("Cannot order by LastEventTime with a logStreamNamePrefix.");
  }
  const streams = [...store.listStreams(group, requested.logStreamNamePrefix)];
  if (requested.orderBy === "LastEventTime") {
    const time = new Map(streams.map((stream) => [stream, stream.last()?.timestamp ?? 0]));
    streams.sort((a, b) => time.get(a)! - time.get(b)!);
  }
  if (requested.descending) streams.reverse();
  const { page, nextToken } = takePage(streams, requested.limit, requested.nextToken);
  return { logStreams: page.map((stream) => describeStream(group, stream)), nextToken };
}

function describeStream(group: string, stream: LogFile) {
  const { name, created } = stream.header;
  const [first, last] = [stream.first(), stream.last()];
  return {
    logStreamName: name,
    creationTime: created,
    arn: `${arnOf(group)}:log-stream:${name}`,
    storedBytes: 0, // As on AWS since 2019.
    ...(first && last
      ? {
          firstEventTimestamp: first.timestamp,
          lastEventTimestamp: last.timestamp,
          lastIngestionTime: last.ingested,
          uploadSequenceToken: String(last.end).padStart(56, "0"),
        }
      : {}),
  };
}

function takePage<T>(
  all: readonly T[],
  most: number,
  token: string | undefined,
): { readonly page: readonly T[]; readonly nextToken?: string } {
  const start = token === undefined ? 0 : Number(token);
  if (!Number.isInteger(start) || start < 0) throw invalid("The specified nextToken is invalid.");
  const page = all.slice(start, start + most);
  return start + most < all.length ? { page, nextToken: String(start + most) } : { page };
}
