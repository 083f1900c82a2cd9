import { mkdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { functionNameIn, functions } from "../core/platform/functions";
import { createApiServer } from "./api-server";
import { createBatch } from "./batch";
import { createDynamoDb } from "./dynamodb";
import { createEvents } from "./events";
import { createFront } from "./front";
import { createLambda } from "./lambda";
import { listen, portOf } from "./listen";
import { createLogs } from "./logs";
import { provision, trainerImage } from "./provision";
import { createS3 } from "./s3";
import { createScheduler } from "./scheduler";
import type { EmittedEvent, EventSink, Service } from "./service";
import { dataPaths, functionEnvironment, localConfig, type StackSettings } from "./settings";
import { createStepFunctions } from "./states";

export interface Stack {
  /** Of the AWS wire protocols. */
  readonly endpoint: string;
  readonly api: string;
  close(): Promise<void>;
}

/**
 * The embedded cloud: every service over one data directory, the platform provisioned in it, the API beside it.
 *
 * @param bundles directory of the built bundles (`scripts/build.js`): functions, trainer, state machines.
 */
export async function startStack(settings: StackSettings, bundles: string): Promise<Stack> {
  const paths = dataPaths(settings.dataDirectory);
  for (const name of ["dynamodb", "s3", "states", "batch", "lambda", "events", "scheduler", "logs"]) {
    mkdirSync(paths.service(name), { recursive: true });
  }
  // The front listens first, because the functions' environment holds its address; requests wait until the services are there.
  const services = promised<readonly Service[]>();
  const front = createFront(services.promise);
  await listen(front, settings.port, "--port");
  const endpoint = `http://127.0.0.1:${portOf(front)}`;
  const environment = functionEnvironment(endpoint);
  Object.assign(process.env, environment);

  // Services emit onto a bus that is made after them; what they emit before it stands waits.
  const bus = lateSink();
  const logs = await createLogs({ dataDirectory: paths.service("logs") });
  const lambda = createLambda({
    dataDirectory: paths.service("lambda"),
    logs,
    runtimePath: join(bundles, "lambda-runtime.js"),
    functions: functions.map(({ name, timeoutSeconds, memoryMb }) => ({
      name: functionNameIn(localConfig().prefix, name),
      bundle: join(bundles, "lambdas", `${name}.js`),
      environment,
      timeoutSeconds,
      memoryMb,
    })),
  });
  const [dynamodb, s3, states, batch] = await Promise.all([
    createDynamoDb({ dataDirectory: paths.service("dynamodb") }),
    createS3({ dataDirectory: paths.service("s3"), events: bus }),
    createStepFunctions({
      dataDirectory: paths.service("states"),
      functions: lambda,
      events: bus,
      ready: services.promise,
    }),
    createBatch({
      dataDirectory: paths.service("batch"),
      logs,
      events: bus,
      hostPath: join(bundles, "batch-host.js"),
      images: {
        [trainerImage]: {
          command: [process.execPath, "--enable-source-maps", join(bundles, "trainer.js")],
          environment: {
            ...environment,
            RINGMASTER_INGEST_FUNCTION: functionNameIn(localConfig().prefix, "ingest-metrics"),
            RINGMASTER_ADVERTISE_HOST: "127.0.0.1",
          },
        },
      },
    }),
  ]);
  const start = startExecutionOf(new SFNClient({}));
  const events = await createEvents({
    dataDirectory: paths.service("events"),
    functions: lambda,
    startExecution: start,
  });
  bus.connect(events);
  const scheduler = await createScheduler({
    dataDirectory: paths.service("scheduler"),
    functions: lambda,
    startExecution: start,
  });
  services.resolve([dynamodb, s3, states, batch, lambda, events, scheduler, logs]);

  await provision(readFileSync(join(bundles, "state-machines", "training-run.asl.json"), "utf8"));
  const { handler } = await import("../lambdas/api/handler");
  const apiServer = createApiServer(handler as unknown as Parameters<typeof createApiServer>[0]);
  await listen(apiServer, settings.apiPort, "--api-port");

  return {
    endpoint,
    api: `http://127.0.0.1:${portOf(apiServer)}`,
    async close() {
      await Promise.all([closeServer(apiServer), closeServer(front)]);
      // Those that call others go first.
      for (const service of [scheduler, events, states, batch, lambda, dynamodb, s3, logs]) await service.close();
    },
  };
}

/** How rules and schedules start executions: through the service's own API. */
function startExecutionOf(client: SFNClient) {
  return async (stateMachineArn: string, input: string, name?: string): Promise<void> => {
    await client.send(new StartExecutionCommand({ stateMachineArn, input, name }));
  };
}

function promised<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A sink that keeps events until the bus is there. */
function lateSink(): EventSink & { connect(bus: EventSink): void } {
  let bus: EventSink | undefined;
  const waiting: EmittedEvent[] = [];
  return {
    put(event) {
      if (bus) bus.put(event);
      else waiting.push(event);
    },
    connect(real) {
      bus = real;
      for (const event of waiting.splice(0)) real.put(event);
    },
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((closed) => {
    server.close(() => closed());
    server.closeAllConnections();
  });
}
