import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { createDocumentClient, documents } from "../adapters/dynamodb/client";
import { stackSecret } from "../adapters/files/owner-keys";
import { createTokenStore } from "../adapters/files/token-store";
import { createPlatform } from "../adapters/platform";
import { deploy } from "../adapters/port";
import { readScope } from "../adapters/process-scope";
import { createTransferApp } from "../api/mlflow/artifacts/transfer-app";
import { contentDigestOf } from "../core/object-keys";
import { createStreamApp, streamPorts } from "../lambdas/stream-metrics/app";
import {
  type Clock,
  clockEndpoint,
  createBatch,
  createDynamoDb,
  createEvents,
  createFront,
  createLambda,
  createLogs,
  createRolePolicies,
  createS3,
  createScheduler,
  createSns,
  createStepFunctions,
  createSts,
  type Iam,
  listen,
  listGpus,
  MovableClock,
  portOf,
  type Service,
} from "../local";
import { readHookTargets } from "../platform/config";
import { teamTopicName } from "../platform/event-names";
import { functionNameIn, functions } from "../platform/functions";
import { type FunctionPermissions, functionPermissionsFile } from "../platform/permissions";
import { createAccessRecorder } from "./access-recorder";
import { apiServerOptions, createApiServer } from "./api-server";
import { streamedRoutes } from "./api-streams";
import { transferRoutes } from "./api-transfers";
import { createIam, jobRoleName, rolePermissions } from "./iam";
import { provision, trainerImage } from "./provision";
import {
  dataPaths,
  functionEnvironment,
  localConfig,
  localWorld,
  type StackSettings,
  trainerEnvironment,
} from "./settings";
import { parseSchedule } from "./timetable";

export interface Stack {
  readonly endpoint: string;
  readonly api: string;
  close(): Promise<void>;
}

/**
 * Starts the embedded cloud: every service over one data directory, the platform provisioned in it, and the API.
 *
 * @param bundles directory of the built bundles (`scripts/build.js`): functions, trainer, state machines
 */
export async function startStack(settings: StackSettings, bundles: string): Promise<Stack> {
  // The front listens first, because the functions' environment contains its address. Requests wait until the services
  // exist.
  const services = promised<readonly Service[]>();
  const functionPermissions = JSON.parse(readFileSync(join(bundles, functionPermissionsFile), "utf8"));
  const iam = createIam({
    world: localWorld(),
    secret: stackSecret(settings.dataDirectory),
    functionPermissions,
    onAccess: accessRecorder(bundles, functionPermissions),
  });
  const schedulerClock = new MovableClock();
  const front = createFront(services.promise, iam, { "/_ringmaster/clock": clockEndpoint(schedulerClock) });
  await listen(front, settings.port, "--port");
  const endpoint = `http://127.0.0.1:${portOf(front)}`;
  const api = promised<Server>();
  const apiFront = createServer(apiServerOptions, (request, response) => {
    void api.promise.then((server) => server.emit("request", request, response));
  });
  await listen(apiFront, settings.apiPort, "--api-port");
  const ownPorts = [portOf(front), portOf(apiFront)];
  const environment = functionEnvironment(endpoint, {
    allowLoopback: settings.allowLoopbackHooks ?? false,
    ownPorts,
  });
  // Provisioning uses the owner's keys. The keys of the API's role replace them below.
  Object.assign(process.env, environment, {
    AWS_ACCESS_KEY_ID: iam.owner.accessKeyId,
    AWS_SECRET_ACCESS_KEY: iam.owner.secretAccessKey,
  });

  const opened = await openServices(settings, bundles, environment, iam, schedulerClock, services.promise);
  services.resolve(opened);

  await provision(readFileSync(join(bundles, "state-machines", "training-run.asl.json"), "utf8"));
  // From here on this process is the API and has only the API's permissions.
  Object.assign(process.env, iam.environmentOf(functionNameIn(localConfig().prefix, "api"), "api"));
  // Local clients may give paths relative to this directory.
  process.env["RINGMASTER_WORKING_DIRECTORY"] = process.cwd();
  const { handler } = await import("../lambdas/api/handler");
  const platform = createPlatform();
  const apiServer = createApiServer(
    handler as unknown as Parameters<typeof createApiServer>[0],
    createTokenStore(settings.dataDirectory),
    {
      streams: streamedRoutes(createStreamApp(streamDeployment(iam))),
      transfers: transferRoutes(createTransferApp(platform)),
    },
  );
  api.resolve(apiServer);

  return {
    endpoint,
    api: `http://127.0.0.1:${portOf(apiFront)}`,
    async close() {
      await Promise.all([closeServer(apiFront), closeServer(front)]);
      for (const service of opened) await service.close();
    },
  };
}

/**
 * Opens every service over its own directory. Interrupted work resumes once `ready` resolves.
 *
 * @returns the services in the order in which they must be closed: callers before the services that they call
 */
async function openServices(
  { dataDirectory, workers }: StackSettings,
  bundles: string,
  environment: Readonly<Record<string, string>>,
  iam: Iam,
  schedulerClock: Clock,
  ready: Promise<unknown>,
): Promise<readonly Service[]> {
  const { service } = dataPaths(dataDirectory);
  const { AWS_ENDPOINT_URL: endpoint = "" } = environment;
  const logs = await createLogs({ dataDirectory: service("logs") });
  const lambda = createLambda({
    dataDirectory: service("lambda"),
    logs,
    runtimePath: join(bundles, "lambda-runtime.js"),
    // The steps of the next run reuse the environments of this run. A longer training releases their memory.
    idleMs: 120_000,
    functions: functions.map(({ name, timeoutSeconds, memoryMb }) => ({
      name: functionNameIn(localConfig().prefix, name),
      bundle: join(bundles, "lambdas", `${name}.js`),
      environment: { ...environment, ...iam.environmentOf(functionNameIn(localConfig().prefix, name), name) },
      timeoutSeconds,
      memoryMb,
    })),
  });
  const startExecution = startExecutionOf(new SFNClient({ credentials: iam.owner }));
  const targets = { functions: lambda, startExecution, parseSchedule };
  // The bus starts before the services that publish to it. An event that it accepts is on disk.
  const events = createEvents({ dataDirectory: service("events"), ...targets });
  const scheduler = createScheduler({ dataDirectory: service("scheduler"), clock: schedulerClock, ...targets });
  const jobKeys = iam.environmentOf(jobRoleName(localConfig().prefix), "trainer");
  const batch = createBatch({
    dataDirectory: service("batch"),
    logs,
    events,
    hostPath: join(bundles, "batch-host.js"),
    gpus: listGpus(),
    vcpus: workers,
    images: {
      [trainerImage]: trainerImageOf(bundles, { ...trainerEnvironment(endpoint), ...jobKeys }, service("cache")),
    },
  });
  // Any name may be a team locally, and each team has a topic.
  const sns = createSns({
    dataDirectory: service("sns"),
    ownPorts: readHookTargets(environment).ownPorts,
    provided: (name) => name.startsWith(teamTopicName(localConfig().prefix, "")),
  });
  const rolePolicies = createRolePolicies(iam, { dataDirectory: service("iam") });
  const [dynamodb, s3, states] = await Promise.all([
    createDynamoDb({ dataDirectory: service("dynamodb") }),
    createS3({ dataDirectory: service("s3"), events, contentDigest: contentDigestOf }),
    createStepFunctions({ dataDirectory: service("states"), functions: lambda, events, ready }),
  ]);
  await Promise.all([lambda.ready, events.ready, scheduler.ready, batch.ready, sns.ready, rolePolicies.ready]);
  return [scheduler, batch, states, events, lambda, sns, dynamodb, s3, createSts(iam), rolePolicies, logs];
}

/**
 * Describes the trainer's image on this machine: the bundle, with the environment that the job definition gives it on
 * AWS.
 */
function trainerImageOf(bundles: string, environment: Readonly<Record<string, string>>, cacheDirectory: string) {
  return {
    command: [process.execPath, "--require", join(bundles, "preload.js"), join(bundles, "trainer.js")],
    environment: {
      ...environment,
      RINGMASTER_ADVERTISE_HOST: "127.0.0.1",
      RINGMASTER_CACHE_DIR: cacheDirectory,
      RINGMASTER_CACHE_GIB: "8",
    },
  };
}

/** Makes the ports of `stream-metrics` in this process, with the keys of its own role. */
function streamDeployment(iam: Iam) {
  const name = functionNameIn(localConfig().prefix, "stream-metrics");
  const client = new DynamoDBClient({ credentials: iam.issue({ role: name, name: "stream-metrics" }) });
  return deploy(readScope(process.env), streamPorts, [[documents(), () => createDocumentClient(client)]]);
}

function accessRecorder(bundles: string, permissions: FunctionPermissions) {
  if (process.env["RINGMASTER_RECORD_ACCESSES"] !== "1") return undefined;
  return createAccessRecorder(join(bundles, "accesses"), rolePermissions(localWorld(), permissions), localWorld());
}

/** Returns a function that starts executions for rules and schedules through the service's own API. */
function startExecutionOf(client: SFNClient) {
  return async (stateMachineArn: string, input: string, name: string): Promise<void> => {
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

function closeServer(server: Server): Promise<void> {
  return new Promise((closed) => {
    server.close(() => closed());
    server.closeAllConnections();
  });
}
