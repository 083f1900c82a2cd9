import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { createDocumentClient } from "../adapters/dynamodb/client";
import { createLambdaMetricSink } from "../adapters/lambda/metric-sink";
import { createObjectStore } from "../adapters/s3/object-store";
import { createLogger, type Logger } from "../core/logging";
import { teamPrefix } from "../core/object-keys";
import { segmentNameOf } from "../core/runs/ports";
import type { TrainingTask } from "../core/runs/training-task";
import { readTrainerConfig } from "../platform/config";
import { createUploadThread } from "./checkpoint/upload-thread";
import { openRunSession, type RunSession } from "./credentials/run-session";
import { createEngine } from "./engine/create-engine";
import { createGang } from "./gang";
import { createGangStore } from "./gang/dynamodb-store";
import { advertisedHost } from "./host/advertised-host";
import { createInterruption, interruptOnSignals } from "./host/interruption";
import { createLoopWatch } from "./host/loop-watch";
import { readMachine } from "./host/machine";
import { runTrainer } from "./host/run-trainer";
import { watchSpot } from "./host/spot-watcher";
import { refuseModuleExit, uncaughtException } from "./host/uncaught";
import { Outbox } from "./telemetry/outbox";
import { createOutboxThread } from "./telemetry/outbox-thread";
import type { Sender } from "./telemetry/sender";
import { createTelemetry, noTelemetry } from "./telemetry/telemetry";

const uploadScript = path.join(__dirname, "checkpoint-upload-worker.js");
const outboxScript = path.join(__dirname, "metrics-outbox-worker.js");

async function main(): Promise<number> {
  const clock = { now: () => Date.now() };
  const config = readTrainerConfig(process.env, {
    hostname: os.hostname(),
    pid: process.pid,
    temporaryDirectory: os.tmpdir(),
  });
  const { runId, memberId, workerIndex } = config;
  const logger = createLogger((line) => process.stdout.write(`${line}\n`), clock, { runId, memberId, workerIndex });

  const interruption = createInterruption((reason) => logger.log("warn", "this host is going away", { reason }));
  interruptOnSignals(interruption, process);
  refuseModuleExit(process);
  const loops = createLoopWatch();
  const uncaught = Promise.race([uncaughtException(process), loops.found]);
  uncaught.catch(() => undefined); // raced during training
  if (config.metadataEndpoint !== undefined) {
    watchSpot({
      endpoint: config.metadataEndpoint,
      fetch,
      onNotice: ({ action, time }) => interruption.raise(`spot notice: ${action} at ${time}`),
    });
  }

  const session = openRunSession(process.env, (message, error) => logger.log("warn", message, { error }));
  const retries = { maxAttempts: 6, ...session.client };
  const place = { bucket: config.bucket, prefix: teamPrefix(config.team) };
  const store = createObjectStore(new S3Client(retries), place.bucket, place.prefix, { deniedIsMissing: true });
  const gangs = createGangStore(createDocumentClient(new DynamoDBClient(retries)), config.gangsTable);
  const sender =
    config.ingestFunction === undefined ? undefined : createSender(config.ingestFunction, memberId, session, logger);
  const telemetry = sender === undefined ? noTelemetry : createTelemetry(runId, sender, clock);
  if (config.metadataEndpoint !== undefined) {
    void readMachine(config.metadataEndpoint, fetch, memberId).then((machine) => machine && telemetry.machine(machine));
  }
  const host = config.advertiseHost ?? advertisedHost(os.networkInterfaces());
  return runTrainer({
    config,
    store,
    clock,
    now: () => performance.now(),
    logger,
    telemetry,
    interruption,
    uncaught,
    watchLoops: () => loops.start(),
    createEngine,
    ...(existsSync(uploadScript) ? { upload: createUploadThread(uploadScript, place) } : {}),
    createGang: (task: TrainingTask) =>
      createGang({
        gangId: segmentNameOf(config),
        memberId,
        workerIndex,
        expectedWorkers: task.workers,
        minWorkers: task.minWorkers,
        microshards: task.microshards,
        store: gangs,
        clock,
        host,
        logger: {
          info: (message, fields) => logger.log("info", `gang: ${message}`, fields),
          warn: (message, fields) => logger.log("warn", `gang: ${message}`, fields),
        },
      }),
  });
}

/** Creates the metrics sender, in a separate thread if its bundle is next to this one. */
function createSender(ingestFunction: string, memberId: string, session: RunSession, logger: Logger): Sender {
  const name = `${memberId.replace(/[^\w-]/g, "_")}-${process.pid}`;
  const directory = path.join(os.tmpdir(), "ringmaster-outbox", name);
  const onTrouble = (message: string, error: unknown) =>
    logger.log("warn", message, error === undefined ? {} : { error });
  if (existsSync(outboxScript)) return createOutboxThread(outboxScript, { ingestFunction, directory }, onTrouble);
  const sink = createLambdaMetricSink(
    new LambdaClient({ maxAttempts: 2, ...session.client }),
    ingestFunction,
    session.runKey,
  );
  const onRefused = ({ message }: Error) => onTrouble(message, undefined);
  return new Outbox({ sink, directory, onRefused, onTrouble, sleep, random: Math.random });
}

main().then(
  // Sockets of the SDK's clients and native threads would keep the process alive.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
