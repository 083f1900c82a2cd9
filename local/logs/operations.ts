import { createHash } from "node:crypto";
import * as z from "zod";
import { account, region } from "../account";
import { ServiceError } from "../wire";
import { parseFilterPattern } from "./filter-pattern";
import { filterStreams, maxEvents } from "./read-events";
import type { LogStore } from "./store";

const groupName = z.string().regex(/^[.\-_/#A-Za-z0-9]{1,512}$/);
const streamName = z.string().regex(/^[^:*]{1,512}$/);
const limit = (most: number) => z.number().int().min(1).max(most).default(most);
const milliseconds = z.number().int().min(0);

const filterInput = z.object({
  logGroupName: groupName.optional(),
  /** A group's name or ARN. */
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

/** Returns the implemented operations of `Logs_20140328` by name. */
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
