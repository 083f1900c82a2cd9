import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import type { WorkerLogs } from "../../core/runs/ports";
import type { LogPage } from "../../core/runs/shapes";
import { containerIndexOf } from "../../platform/members";
import { readJobLogs } from "../../platform/permissions/grants";
import { sharedPort } from "../port";

/** The maximum difference between the clocks of Batch and of a worker's host. */
const clockSkewMs = 30_000;

/** The maximum number of streams in one FilterLogEvents request. */
const maxStreams = 100;

/** All streams are in one log group of the platform and have the names of the workers' attempts. */
export function createWorkerLogs(client: CloudWatchLogsClient, logGroup: string): WorkerLogs {
  return {
    async read(workers, { worker, nextToken, workersPerHost }): Promise<LogPage> {
      const workerOf = new Map<string, number>();
      for (const record of workers) {
        if (worker !== undefined && record.workerIndex !== containerIndexOf(worker, workersPerHost)) continue;
        for (const stream of [record.logStreamName, ...record.attempts.map((attempt) => attempt.logStreamName)]) {
          if (stream !== undefined) workerOf.set(stream, record.workerIndex);
        }
      }
      if (workerOf.size === 0) return { lines: [] };
      const times = workers.flatMap(({ startedAt, attempts }) => [startedAt, ...attempts.map((one) => one.startedAt)]);
      const starts = times.filter((time) => time !== undefined);
      const page = await client.send(
        new FilterLogEventsCommand({
          logGroupName: logGroup,
          logStreamNames: [...workerOf.keys()].slice(-maxStreams),
          nextToken,
          limit: 1_000,
          // The stream of a shared job begins with the lines of other runs.
          ...(starts.length === 0 ? {} : { startTime: Math.max(0, Math.min(...starts) - clockSkewMs) }),
        }),
      );
      const lines = (page.events ?? []).map(({ logStreamName = "", timestamp = 0, message = "" }) => {
        const first = (workerOf.get(logStreamName) ?? 0) * workersPerHost;
        return { time: timestamp, ...(workersPerHost > 1 ? lineOf(message, first) : { worker: first, message }) };
      });
      return {
        lines: workersPerHost > 1 && worker !== undefined ? lines.filter((line) => line.worker === worker) : lines,
        nextToken: page.nextToken,
      };
    },
  };
}

/** Finds the worker of a line in a stream of several (`host-workers.ts`). @param first index of its first worker */
function lineOf(message: string, first: number): { readonly worker: number; readonly message: string } {
  const [, prefix, rest] = /^\[worker (\d+)\] (.*)$/s.exec(message) ?? [];
  if (prefix !== undefined && rest !== undefined) return { worker: Number(prefix), message: rest };
  const [, field] = (message.startsWith("{") && /"workerIndex":(\d+)/.exec(message)) || [];
  return { worker: field === undefined ? first : Number(field), message };
}

export const workerLogs = sharedPort({
  grants: { read: [readJobLogs] },
  make: (_uses, { config }) => createWorkerLogs(new CloudWatchLogsClient({}), config.jobLogGroup),
});
