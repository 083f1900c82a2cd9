import type { IncomingMessage, ServerResponse } from "node:http";
import type { Time } from "../clock";
import { logsAccess } from "../iam/access/json";
import type { Caller } from "../iam/caller";
import type { LogAppender, LogLine, Service } from "../service";
import { isDiskFull } from "../storage/space";
import { operationNamed, ServiceError, serveJson } from "../wire";
import type { LogFile } from "./log-file";
import { logOperations, type Operation } from "./operations";
import { LogStore } from "./store";

export interface LogsOptions {
  readonly dataDirectory: string;
  readonly clock?: Time;
}

const targetPrefix = "Logs_20140328.";
const protocol = {
  maxBytes: 8 * 1024 ** 2,
  contentType: "application/x-amz-json-1.1",
  invalid: (message: string) => new ServiceError("SerializationException", 400, message),
  tooLarge: (message: string) => new ServiceError("InvalidParameterException", 400, message),
};
/** The maximum length of a message. Longer lines are cut, as by CloudWatch's agents. */
const maxMessageBytes = 256 * 1024;

/**
 * Creates CloudWatch Logs (JSON 1.1) over append-only files. The other services of this process use the same store. An
 * event survives `kill -9` once its append has returned. The events of a stream have the order in which they were
 * appended.
 */
export async function createLogs({ dataDirectory, clock = Date }: LogsOptions): Promise<Service & LogAppender> {
  const store = new LogStore(dataDirectory);
  const operations = logOperations(store);
  let complained = false;
  return {
    signingName: "logs",
    handle: (request, response, caller) => handle(operations, request, response, caller),
    close: async () => {},
    append(group, stream, events) {
      const lines = events.flatMap(cutLine);
      if (lines.length === 0) return;
      try {
        const now = clock.now();
        const file = store.findStream(group, stream) ?? newStream(store, group, stream, now);
        file.append(lines, now);
        complained = false;
      } catch (error) {
        if (complained) return;
        complained = true;
        const message = `Log lines are being dropped, because ${dataDirectory} cannot be written: ${(error as Error).message}`;
        process.stderr.write(`${JSON.stringify({ level: "warn", message, group, stream })}\n`);
      }
    },
  };
}

function newStream(store: LogStore, group: string, stream: string, now: number): LogFile {
  if (!store.findGroup(group)) store.createGroup(group, now);
  return store.createStream(group, stream, now);
}

function cutLine({ timestamp, message }: LogLine): LogLine[] {
  const lines: LogLine[] = [];
  for (let at = 0; at < message.length; at += maxMessageBytes) {
    lines.push({ timestamp, message: message.slice(at, at + maxMessageBytes) });
  }
  return lines;
}

function handle(
  operations: Readonly<Record<string, Operation>>,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller | undefined,
): Promise<void> {
  return serveJson(request, response, protocol, (input) => {
    const target = String(request.headers["x-amz-target"] ?? "");
    const name = target.startsWith(targetPrefix) ? target.slice(targetPrefix.length) : target;
    const operation = operationNamed(operations, name, "CloudWatch Logs");
    caller?.authorize(logsAccess(name, input));
    try {
      return operation(input);
    } catch (error) {
      throw toServiceError(error);
    }
  });
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { message } = error as Error;
  const full = isDiskFull(error);
  return new ServiceError(
    "ServiceUnavailableException",
    full ? 507 : 500,
    full ? `The disk is full: ${message}` : message,
  );
}
