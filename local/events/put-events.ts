import { account, region } from "../account";
import { isObject, parseJson } from "../json";
import { validation } from "../wire";
import type { Bus, BusEvent } from "./bus";

/** EventBridge's limit on all entries of a request together, in bytes. */
const sizeLimit = 1024 * 1024;
const countLimit = 10;

interface Refusal {
  readonly ErrorCode: string;
  readonly ErrorMessage: string;
}

/** Answers PutEvents. Each entry is accepted or refused separately. Accepted entries are on disk when it returns. */
export function putEvents(bus: Bus, entries: unknown): object {
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > countLimit) {
    throw validation(`Entries must be a list of 1–${countLimit} events.`);
  }
  const size = Buffer.byteLength(JSON.stringify(entries));
  if (size > sizeLimit)
    throw validation(`Total size of the entries in the request is ${size} bytes, over the limit of ${sizeLimit}.`);
  const results = entries.map((entry) => accept(bus, isObject(entry) ? entry : {}));
  const events = results.filter((result): result is BusEvent => "id" in result);
  if (events.length > 0) bus.put(events);
  return {
    FailedEntryCount: results.length - events.length,
    Entries: results.map((result) => ("id" in result ? { EventId: result.id } : result)),
  };
}

function accept(bus: Bus, entry: Record<string, unknown>): BusEvent | Refusal {
  const { Source, DetailType, Detail, Time, Resources = [], EventBusName = "default" } = entry;
  for (const [name, value] of Object.entries({ Source, DetailType, Detail })) {
    if (typeof value !== "string" || value === "") {
      return {
        ErrorCode: "InvalidArgument",
        ErrorMessage: `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
      };
    }
  }
  if (!isDefaultBus(EventBusName)) {
    return {
      ErrorCode: "ResourceNotFoundException",
      ErrorMessage: `Event bus ${EventBusName} does not exist. There is the default bus only.`,
    };
  }
  if (/^aws\./i.test(Source as string)) {
    return {
      ErrorCode: "NotAuthorizedForSourceException",
      ErrorMessage: `Not authorized for the source '${Source}': the prefix 'aws.' is reserved.`,
    };
  }
  const detail = parseDetail(Detail as string);
  if (!detail)
    return { ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed: it must be the text of a JSON object." };
  const emitted = {
    source: Source as string,
    detailType: DetailType as string,
    resources: Resources as string[],
    detail,
  };
  // In JSON 1.1 a time is a number of seconds.
  return bus.stamp(emitted, typeof Time === "number" ? Time * 1000 : undefined);
}

function parseDetail(text: string): object | undefined {
  try {
    const detail: unknown = parseJson(text);
    return isObject(detail) ? detail : undefined;
  } catch {
    return undefined;
  }
}

export function isDefaultBus(name: unknown): boolean {
  return name === undefined || name === "default" || name === defaultBusArn;
}

const defaultBusArn = `arn:aws:events:${region}:${account}:event-bus/default`;
