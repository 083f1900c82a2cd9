import {
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  DescribeLogGroupsCommand,
  DescribeLogStreamsCommand,
  FilterLogEventsCommand,
  type FilterLogEventsCommandInput,
  GetLogEventsCommand,
  type GetLogEventsCommandInput,
  PutLogEventsCommand,
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

async function newStream(logGroupName: string, logStreamName: string): Promise<void> {
  await send(new CreateLogGroupCommand({ logGroupName })).catch(() => {});
  await send(new CreateLogStreamCommand({ logGroupName, logStreamName }));
}

async function read(input: Omit<GetLogEventsCommandInput, "logGroupName" | "logStreamName">) {
  const page = await send(new GetLogEventsCommand({ logGroupName: "read", logStreamName: "s", ...input }));
  return { ...page, messages: page.events!.map(({ message }) => message) };
}

describe("groups and streams", () => {
  it("are created once", async () => {
    await newStream("/aws/batch/job", "trainer/default/0123");
    expect(await failure(send(new CreateLogGroupCommand({ logGroupName: "/aws/batch/job" })))).toBe(
      "ResourceAlreadyExistsException",
    );
    const again = new CreateLogStreamCommand({ logGroupName: "/aws/batch/job", logStreamName: "trainer/default/0123" });
    expect(await failure(send(again))).toBe("ResourceAlreadyExistsException");
    expect(await failure(send(new CreateLogStreamCommand({ logGroupName: "none", logStreamName: "s" })))).toBe(
      "ResourceNotFoundException",
    );
  });

  it("are described, by prefix and page", async () => {
    for (const name of ["b", "a", "c", "Case", "case", "x".repeat(300)]) await newStream("described", name);
    running.logs.append("described", "b", [line(5, "late"), line(6, "later")]);
    running.logs.append("described", "a", [line(1, "early")]);
    const names = async (input: object) =>
      (await send(new DescribeLogStreamsCommand({ logGroupName: "described", ...input }))).logStreams!.map(
        ({ logStreamName }) => logStreamName,
      );
    expect(await names({})).toEqual(["Case", "a", "b", "c", "case", "x".repeat(300)]);
    expect(await names({ logStreamNamePrefix: "ca" })).toEqual(["case"]);
    expect((await names({ orderBy: "LastEventTime", descending: true })).slice(0, 2)).toEqual(["b", "a"]);
    const first = await send(new DescribeLogStreamsCommand({ logGroupName: "described", limit: 4 }));
    expect(await names({ limit: 4, nextToken: first.nextToken })).toEqual(["case", "x".repeat(300)]);
    expect(first.logStreams![2]).toMatchObject({
      logStreamName: "b",
      creationTime: now,
      firstEventTimestamp: now + 5000,
      lastEventTimestamp: now + 6000,
      lastIngestionTime: now,
      arn: "arn:aws:logs:us-east-1:000000000000:log-group:described:log-stream:b",
    });
    const groups = await send(new DescribeLogGroupsCommand({ logGroupNamePrefix: "desc" }));
    expect(groups.logGroups).toMatchObject([
      {
        logGroupName: "described",
        creationTime: now,
        arn: "arn:aws:logs:us-east-1:000000000000:log-group:described:*",
      },
    ]);
  });
});

describe("PutLogEvents", () => {
  const put = (logEvents: { timestamp: number; message: string }[], logStreamName = "s") =>
    send(new PutLogEventsCommand({ logGroupName: "put", logStreamName, logEvents }));
  beforeAll(() => newStream("put", "s"));

  it("stores the events that GetLogEvents returns", async () => {
    await put([line(0, "one"), line(1, "two\nlines \u{1f600}")]);
    const page = await send(new GetLogEventsCommand({ logGroupName: "put", logStreamName: "s" }));
    expect(page.events).toEqual([
      { timestamp: now, message: "one", ingestionTime: now },
      { timestamp: now + 1000, message: "two\nlines \u{1f600}", ingestionTime: now },
    ]);
  });

  it("rejects and reports events that are too old or too new", async () => {
    const day = 86_400_000;
    const old = await put([{ timestamp: now - 15 * day, message: "old" }]);
    expect(old.rejectedLogEventsInfo).toEqual({ tooOldLogEventEndIndex: 1 });
    const ahead = await put([line(0, "fine"), line(3 * 3600, "ahead")]);
    expect(ahead.rejectedLogEventsInfo).toEqual({ tooNewLogEventStartIndex: 1 });
  });

  it("refuses what CloudWatch refuses", async () => {
    expect(await failure(put([line(1, "b"), line(0, "a")]))).toBe("InvalidParameterException");
    expect(await failure(put([]))).toBe("InvalidParameterException");
    expect(await failure(put([line(0, "x".repeat(1_048_576))]))).toBe("InvalidParameterException");
    expect(await failure(put([line(0, "a")], "none"))).toBe("ResourceNotFoundException");
    expect(await failure(send(new PutRetentionPolicyCommand({ logGroupName: "put", retentionInDays: 1 })))).toBe(
      "UnknownOperationException",
    );
  });
});

describe("GetLogEvents", () => {
  beforeAll(() => {
    running.logs.append(
      "read",
      "s",
      Array.from({ length: 10 }, (_, i) => line(i, `m${i}`)),
    );
  });

  it("reads forward from the head, to an end where the token stays", async () => {
    const first = await read({ startFromHead: true, limit: 4 });
    expect(first.messages).toEqual(["m0", "m1", "m2", "m3"]);
    const second = await read({ startFromHead: true, limit: 4, nextToken: first.nextForwardToken });
    const third = await read({ startFromHead: true, limit: 4, nextToken: second.nextForwardToken });
    expect([second.messages, third.messages]).toEqual([
      ["m4", "m5", "m6", "m7"],
      ["m8", "m9"],
    ]);
    const end = await read({ startFromHead: true, nextToken: third.nextForwardToken });
    expect([end.messages, end.nextForwardToken]).toEqual([[], third.nextForwardToken]);
    running.logs.append("read", "s", [line(10, "m10")]);
    expect((await read({ startFromHead: true, nextToken: end.nextForwardToken })).messages).toEqual(["m10"]);
  });

  it("reads the latest first otherwise, and backward from there", async () => {
    const latest = await read({ limit: 3 });
    expect(latest.messages).toEqual(["m8", "m9", "m10"]);
    const before = await read({ limit: 7, nextToken: latest.nextBackwardToken });
    expect(before.messages).toEqual(["m1", "m2", "m3", "m4", "m5", "m6", "m7"]);
    const rest = await read({ nextToken: before.nextBackwardToken });
    expect(rest.messages).toEqual(["m0"]);
    const end = await read({ nextToken: rest.nextBackwardToken });
    expect([end.messages, end.nextBackwardToken]).toEqual([[], rest.nextBackwardToken]);
  });

  it.each([true, false])("reads a time range without its end (from the head: %s)", async (startFromHead) => {
    const page = await read({ startTime: now + 3000, endTime: now + 6000, startFromHead });
    expect(page.messages).toEqual(["m3", "m4", "m5"]);
  });

  it("refuses a token that it did not issue", async () => {
    expect(await failure(read({ nextToken: "made-up" }))).toBe("InvalidParameterException");
  });
});

describe("FilterLogEvents", () => {
  beforeAll(() => {
    running.logs.append("filter", "worker-1", [line(0, "start"), line(2, "loss 0.5"), line(4, "ERROR out of memory")]);
    running.logs.append("filter", "worker-2", [line(1, "start"), line(2, "loss 0.6"), line(3, "done")]);
    running.logs.append("filter", "other", [line(9, "loss 9")]);
  });

  async function filter(input: Partial<FilterLogEventsCommandInput>): Promise<readonly string[]> {
    const { events } = await send(new FilterLogEventsCommand({ logGroupName: "filter", ...input }));
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

  it("refuses other kinds of patterns, and missing streams", async () => {
    expect(await failure(filter({ filterPattern: "{ $.level = 1 }" }))).toBe("InvalidParameterException");
    expect(await failure(filter({ logStreamNames: ["none"] }))).toBe("ResourceNotFoundException");
  });
});

describe("append", () => {
  it("creates group and stream, drops empty lines and cuts long ones", async () => {
    running.logs.append("new/group", "new/stream", [line(0, ""), line(0, "x".repeat(300_000))]);
    const { events } = await send(new GetLogEventsCommand({ logGroupName: "new/group", logStreamName: "new/stream" }));
    expect(events!.map(({ message }) => message!.length)).toEqual([262_144, 37_856]);
  });
});
