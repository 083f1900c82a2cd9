import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { createLambdaMetricSink } from "../../adapters/lambda/metric-sink";
import { openRunSession } from "../credentials/run-session";
import { Outbox } from "./outbox";
import type { OutboxReply, OutboxRequest, OutboxThreadSettings } from "./outbox-protocol";

/** The thread that encodes, signs and sends metrics, and keeps them on disk while they cannot be sent. */
const { ingestFunction, directory } = workerData as OutboxThreadSettings;
const say = (reply: OutboxReply) => parentPort?.postMessage(reply);
const session = openRunSession(process.env, (message, error) =>
  say({ kind: "trouble", message, error: cloneable(error) }),
);
const outbox = new Outbox({
  sink: createLambdaMetricSink(new LambdaClient({ maxAttempts: 2, ...session.client }), ingestFunction, session.runKey),
  directory,
  onRefused: ({ message }) => say({ kind: "trouble", message, error: undefined }),
  onTrouble: (message, error) => say({ kind: "trouble", message, error: cloneable(error) }),
  sleep,
  random: Math.random,
});

parentPort?.on("message", (request: OutboxRequest) => {
  if (request.kind === "post") void outbox.post(request.batch).then(() => say({ kind: "gone", id: request.id }));
  else void outbox.close(request.patienceMs).then(() => say({ kind: "closed" }));
});

/** Copies an error's name, message and stack: its other properties may not pass between threads. */
function cloneable(error: unknown): Error | undefined {
  if (error === undefined) return undefined;
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const copy = new Error(`${name}: ${message}`);
  if (stack !== undefined) copy.stack = stack;
  return copy;
}
