import {
  type FilterLogEventsCommandInput,
  PutRetentionPolicyCommand,
  paginateFilterLogEvents,
} from "@aws-sdk/client-cloudwatch-logs";
import { type RunningLogs, startLogs } from "./harness";

const now = Date.UTC(2026, 5, 1);
let running: RunningLogs;
const send: RunningLogs["client"]["send"] = ((command: never) => running.client.send(command)) as never;

beforeAll(async () => {
  running = await startLogs({ now: () => now });
});
afterAll(() => running.close());

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "no error",
    (error: Error) => error.name,
  );
}

const line = (second: number, message: string) => ({ timestamp: now + second * 1000, message });

it("describes groups by prefix and page", async () => {
  for (const group of ["described/b", "described/a", "described/c"]) running.logs.append(group, "s", [line(0, "x")]);
  const describeGroups = (input: object) =>
    running.client.describeLogGroups({ logGroupNamePrefix: "described/", ...input });
  const first = await describeGroups({ limit: 2 });
  expect(first.logGroups).toMatchObject([
    {
      logGroupName: "described/a",
      creationTime: now,
      arn: "arn:aws:logs:us-east-1:000000000000:log-group:described/a:*",
    },
    { logGroupName: "described/b" },
  ]);
  const second = await describeGroups({ limit: 2, nextToken: first.nextToken });
  expect([second.logGroups?.map(({ logGroupName }) => logGroupName), second.nextToken]).toEqual([
    ["described/c"],
    undefined,
  ]);
});

describe("FilterLogEvents", () => {
  beforeAll(() => {
    running.logs.append("filter", "worker-1", [line(0, "start"), line(2, "loss 0.5"), line(4, "ERROR out of memory")]);
    running.logs.append("filter", "worker-2", [line(1, "start"), line(2, "loss 0.6"), line(3, "done")]);
    running.logs.append("filter", "other", [line(9, "loss 9")]);
  });

  async function filter(input: Partial<FilterLogEventsCommandInput>): Promise<readonly string[]> {
    const { events } = await running.client.filterLogEvents({ logGroupName: "filter", ...input });
    return events!.map(({ logStreamName, message }) => `${logStreamName}: ${message}`);
  }
  const merged = [
    "worker-1: start",
    "worker-2: start",
    "worker-1: loss 0.5",
    "worker-2: loss 0.6",
    "worker-2: done",
    "worker-1: ERROR out of memory",
    "other: loss 9",
  ];

  it.each<[string, Partial<FilterLogEventsCommandInput>, readonly string[]]>([
    ["all streams, merged by time", {}, merged],
    ["some streams", { logStreamNames: ["worker-2"] }, [merged[1]!, merged[3]!, merged[4]!]],
    ["streams by prefix", { logStreamNamePrefix: "worker" }, merged.slice(0, 6)],
    ["a time range, its end included", { startTime: now + 2000, endTime: now + 3000 }, merged.slice(2, 5)],
    ["a term", { filterPattern: "loss" }, [merged[2]!, merged[3]!, merged[6]!]],
    ["all terms", { filterPattern: "loss 0.6" }, [merged[3]!]],
    ["a phrase", { filterPattern: '"of mem"' }, [merged[5]!]],
    ["any of some", { filterPattern: "?ERROR ?done" }, [merged[4]!, merged[5]!]],
    ["a term but not another", { filterPattern: "loss -0.5" }, [merged[3]!, merged[6]!]],
    ["another case", { filterPattern: "error" }, []],
  ])("finds %s", async (_name, input, expected) => {
    expect(await filter(input)).toEqual(expected);
  });

  it.each([1, 2, 3])("pages by %i, each event once", async (limit) => {
    const seen: string[] = [];
    const ids = new Set<string>();
    for await (const page of paginateFilterLogEvents({ client: running.client }, { logGroupName: "filter", limit })) {
      for (const event of page.events!) {
        seen.push(`${event.logStreamName}: ${event.message}`);
        ids.add(event.eventId!);
      }
    }
    expect(seen).toEqual(merged);
    expect(ids.size).toBe(merged.length);
  });

  it("refuses a token that it did not issue, and other operations", async () => {
    expect(await failure(filter({ nextToken: "made-up" }))).toBe("InvalidParameterException");
    const put = new PutRetentionPolicyCommand({ logGroupName: "filter", retentionInDays: 1 });
    expect(await failure(send(put))).toBe("UnknownOperationException");
  });

  it("refuses other kinds of patterns, and missing streams", async () => {
    expect(await failure(filter({ filterPattern: "{ $.level = 1 }" }))).toBe("InvalidParameterException");
    expect(await failure(filter({ logStreamNames: ["none"] }))).toBe("ResourceNotFoundException");
  });
});

describe("append", () => {
  it("creates group and stream, drops empty lines and cuts long ones", async () => {
    running.logs.append("new/group", "new/stream", [line(0, ""), line(0, "x".repeat(300_000))]);
    const { events } = await running.client.filterLogEvents({ logGroupName: "new/group" });
    expect(events!.map(({ message }) => message!.length)).toEqual([262_144, 37_856]);
  });
});
