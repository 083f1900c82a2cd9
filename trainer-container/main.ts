import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { createDocumentClient } from "../adapters/dynamodb/client";
import { createObjectStore } from "../adapters/s3/object-store";
import { createLogger, type Logger } from "../core/logging";
import { teamPrefix } from "../core/object-keys";
import { segmentNameOf } from "../core/runs/ports";
import { type TrainingTask, trainerExitCodes } from "../core/runs/training-task";
import { readTrainerConfig, type TrainerConfig } from "../platform/config/trainer";
import { createUploadThread } from "./checkpoint/upload-thread";
import { openRunSession, type RunSession } from "./credentials/run-session";
import { createEngine } from "./engine/create-engine";
import { createGangStore } from "./gang/dynamodb-store";
import { createGang } from "./gang/rendezvous-gang";
import { advertisedHost, readMachine, watchSpot } from "./host/host-files";
import { runHostWorkers, trainInProcess } from "./host/host-workers";
import { createInterruption, type Interruption, interruptOnSignals, pause, waitForHostEnd } from "./host/interruption";
import { createLoopWatch, refuseModuleExit, uncaughtException } from "./host/loop-watch";
import { runTrainer } from "./host/run-trainer";
import { continueRequests, trainInTurn } from "./host/shared-job";
import { type Sender, SendQueue } from "./telemetry/send-queue";
import { createLambdaMetricSink, createSendThread } from "./telemetry/send-thread";
import { createTelemetry, noTelemetry } from "./telemetry/telemetry";

const uploadScript = path.join(__dirname, "checkpoint-upload-worker.js");
const sendScript = path.join(__dirname, "metrics-send-thread.js");

/** Interval between batches of metrics of a job's later trials, which are short: most of them send one batch. */
const laterFlushMs = 2_000;

const clock = { now: () => Date.now() };

/** Parts that a process has once, for all trainings of its job. */
interface Process {
  readonly interruption: Interruption;
  readonly uncaught: Promise<never>;
  readonly watchLoops: () => void;
}

type Environment = Readonly<Record<string, string | undefined>>;

function configOf(environment: Environment): TrainerConfig {
  return readTrainerConfig(environment, {
    hostname: os.hostname(),
    pid: process.pid,
    temporaryDirectory: os.tmpdir(),
  });
}

async function main(): Promise<number> {
  const config = configOf(process.env);
  const logger = loggerOf(config);
  if (config.evaluation !== undefined) return evaluateInJob(config, config.evaluation, logger);

  const interruption = createInterruption((reason) => logger.log("warn", "this host is going away", { reason }));
  interruptOnSignals(interruption, process);
  const { startsWorkers: count, workerIndex: firstIndex } = config;
  if (count !== undefined) {
    const write = (line: string) => process.stdout.write(`${line}\n`);
    return runHostWorkers({ environment: process.env, count, firstIndex, interruption, write });
  }
  if (config.hostDirectory !== undefined) {
    const { looked } = watchSpot({
      directory: config.hostDirectory,
      intervalMs: config.spotPollMs,
      onNotice: ({ action, time }) => interruption.raise(`spot notice: ${action} at ${time}`, endOf(time)),
    });
    // A process that starts under a notice would join the gang only to leave it.
    await looked;
  }
  const code = interruption.raised ? trainerExitCodes.retry : await trainAll(config, logger, interruption);
  if (code === trainerExitCodes.retry) await waitForHostEnd(interruption, clock, sleep);
  return code;
}

/** Evaluates a run. A host that goes away ends it at once: it has no state to store. */
async function evaluateInJob(config: TrainerConfig, inputHash: string, logger: Logger): Promise<number> {
  // DuckDB, which training does not load.
  const { evaluateRun } = await import("./host/evaluate");
  const session = openRunSession(process.env, (message, error) => logger.log("warn", message, { error }));
  const s3 = new S3Client({ maxAttempts: 6, ...session.client });
  const { runId, jobId, memberId, hostDirectory } = config;
  return evaluateRun({
    runId,
    inputHash,
    jobId,
    store: createObjectStore(s3, config.bucket, teamPrefix(config.team), { deniedIsMissing: true }),
    clock,
    logger,
    machine: hostDirectory === undefined ? Promise.resolve(undefined) : readMachine(hostDirectory, memberId),
    createEngine,
  });
}

/** Returns the time of a notice in milliseconds since the epoch; now, if it is not a time. */
function endOf(time: string): number {
  const parsed = Date.parse(time);
  return Number.isNaN(parsed) ? clock.now() : parsed;
}

/** Trains the job's run, and further trials of its study. Returns the exit code. */
async function trainAll(config: TrainerConfig, logger: Logger, interruption: Interruption): Promise<number> {
  const train = config.processPerTraining
    ? (environment: Environment) => trainInProcess(environment, interruption)
    : trainingHere(interruption);
  if (config.continueFunction === undefined) return train(process.env);
  const ask = continueRequests(new LambdaClient({ maxAttempts: 1 }), config.continueFunction);
  return trainInTurn(process.env, {
    train,
    next: (environment, leave) => {
      const { runId, segment, jobId } = configOf(environment);
      return ask({ runId, segment, jobId, leave, runKey: environment["RINGMASTER_RUN_KEY"] ?? "" });
    },
    interruption,
    pause: (ms) => pause(interruption, ms),
    now: () => performance.now(),
    onTrouble: (error) => logger.log("warn", "the job's next trial cannot be requested", { error }),
  });
}

/** Returns the function that trains one run after another in this process. */
function trainingHere(interruption: Interruption): (environment: Environment) => Promise<number> {
  refuseModuleExit(process);
  const loops = createLoopWatch();
  const uncaught = Promise.race([uncaughtException(process), loops.found]);
  uncaught.catch(() => undefined); // raced during training
  const deps = { interruption, uncaught, watchLoops: () => loops.start() };
  return (environment) => trainRun(deps, environment, environment === process.env);
}

function loggerOf({ runId, memberId, workerIndex }: TrainerConfig): Logger {
  return createLogger((line) => process.stdout.write(`${line}\n`), clock, { runId, memberId, workerIndex });
}

/** Trains one run of the job. `threads`: for checkpoints and metrics; a short trial sends faster without. */
async function trainRun(own: Process, environment: Environment, threads = true): Promise<number> {
  const config = configOf(environment);
  const { runId, memberId, workerIndex } = config;
  const logger = loggerOf(config);
  const session = openRunSession(environment, (message, error) => logger.log("warn", message, { error }));
  const retries = { maxAttempts: 6, ...session.client };
  const place = { bucket: config.bucket, prefix: teamPrefix(config.team) };
  const [s3, dynamodb] = [new S3Client(retries), new DynamoDBClient(retries)];
  const store = createObjectStore(s3, place.bucket, place.prefix, { deniedIsMissing: true });
  const gangs = createGangStore(createDocumentClient(dynamodb), config.gangsTable);
  const sender =
    config.ingestFunction === undefined
      ? undefined
      : createSender(config.ingestFunction, memberId, session, logger, threads);
  const telemetry =
    sender === undefined ? noTelemetry : createTelemetry(runId, sender, clock, threads ? undefined : laterFlushMs);
  if (config.hostDirectory !== undefined) {
    void readMachine(config.hostDirectory, config.containerId).then((machine) => machine && telemetry.machine(machine));
  }
  const host = config.advertiseHost ?? advertisedHost(os.networkInterfaces());
  const code = await runTrainer({
    config,
    store,
    clock,
    now: () => performance.now(),
    logger,
    telemetry,
    hasEnded: session.isRefused,
    ...own,
    createEngine,
    // DuckDB, which other trainings do not load.
    trainContainer: async (...own) => (await import("./container/run-container")).trainContainer(...own),
    ...(threads && existsSync(uploadScript) ? { upload: createUploadThread(uploadScript, place) } : {}),
    createGang: (task: TrainingTask) =>
      createGang({
        gangId: segmentNameOf(config),
        memberId,
        workerIndex,
        expectedWorkers: task.workers,
        minWorkers: task.minWorkers,
        microBatches: task.microBatches,
        store: gangs,
        clock,
        host,
        hasEnded: session.isRefused,
        logger: {
          info: (message, fields) => logger.log("info", `gang: ${message}`, fields),
          warn: (message, fields) => logger.log("warn", `gang: ${message}`, fields),
        },
      }),
  });
  s3.destroy();
  dynamodb.destroy();
  return code;
}

/** Creates the metrics sender, in a separate thread if that is wanted and its bundle is next to this one. */
function createSender(
  ingestFunction: string,
  memberId: string,
  session: RunSession,
  logger: Logger,
  threads: boolean,
): Sender {
  const name = `${memberId.replace(/[^\w-]/g, "_")}-${process.pid}`;
  const directory = path.join(os.tmpdir(), "ringmaster-metrics", name);
  const onTrouble = (message: string, error: unknown) =>
    logger.log("warn", message, error === undefined ? {} : { error });
  if (threads && existsSync(sendScript)) return createSendThread(sendScript, { ingestFunction, directory }, onTrouble);
  const sink = createLambdaMetricSink(
    new LambdaClient({ maxAttempts: 2, ...session.client }),
    ingestFunction,
    session.runKey,
  );
  const onRefused = ({ message }: Error) => onTrouble(message, undefined);
  return new SendQueue({ sink, directory, onRefused, onTrouble, sleep, random: Math.random });
}

main().then(
  // Sockets of the SDK's clients and native threads would keep the process alive.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
