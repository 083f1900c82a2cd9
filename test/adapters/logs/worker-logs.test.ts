import { CloudWatchLogsClient, type FilterLogEventsCommandInput } from "@aws-sdk/client-cloudwatch-logs";
import { createWorkerLogs } from "../../../adapters/logs/worker-logs";

const record = (workerIndex: number) => ({
  ...{ workerIndex, jobId: `j#${workerIndex}`, status: "RUNNING", startedAt: 60_000, attempts: [] },
  logStreamName: `stream-${workerIndex}`,
});
const messages = ["[worker 2] a line of user code", '{"message":"ready","workerIndex":3}', "no worker's line"];

it.each<[string, number, number | undefined, readonly (readonly [number, string])[]]>([
  [
    "all workers of a host",
    2,
    undefined,
    [
      [2, "a line of user code"],
      [3, messages[1]!],
      [2, messages[2]!],
    ],
  ],
  ["one worker of a host", 2, 3, [[3, messages[1]!]]],
  ["the only worker of a container, unchanged", 1, 1, messages.map((message) => [1, message])],
])("reads the lines of %s", async (_name, workersPerHost, worker, expected) => {
  const client = new CloudWatchLogsClient({ region: "us-east-1" });
  let streams: readonly string[] | undefined;
  client.send = async ({ input }: { readonly input: FilterLogEventsCommandInput }) => {
    streams = input.logStreamNames;
    return { events: messages.map((message) => ({ logStreamName: "stream-1", timestamp: 1, message })) };
  };
  const query = { workersPerHost, ...(worker === undefined ? {} : { worker }) };
  const { lines } = await createWorkerLogs(client, "group").read([record(0), record(1)], query);
  expect(lines.map((line) => [line.worker, line.message])).toEqual(expected);
  expect(streams).toEqual(worker === undefined ? ["stream-0", "stream-1"] : ["stream-1"]);
  client.destroy();
});
