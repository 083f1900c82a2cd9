import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBatch } from "../../../local/batch";
import { createDynamoDb } from "../../../local/dynamodb";
import { createEvents } from "../../../local/events";
import { createFront } from "../../../local/front";
import { createRolePolicies } from "../../../local/iam/role-policies";
import { createSts } from "../../../local/iam/sts";
import { createLambda } from "../../../local/lambda";
import { listen, portOf } from "../../../local/listen";
import { createLogs } from "../../../local/logs";
import { createS3 } from "../../../local/s3";
import { createScheduler } from "../../../local/scheduler";
import type { Service } from "../../../local/service";
import { createSns } from "../../../local/sns";
import { createStepFunctions } from "../../../local/states";
import { functionNameIn, functions } from "../../../platform/functions";
import { ensureBuild } from "../../../scripts/build.js";
import { createIam } from "../../../stack/iam";
import { provision } from "../../../stack/provision";
import { functionEnvironment, localConfig, localWorld } from "../../../stack/settings";
import { parseSchedule } from "../../../stack/timetable";
import { ManualClock } from "../../support/manual-clock";
import { functionPermissions } from "../../support/permissions";
import { type Keys, sign, type Unsigned } from "../../support/sign";

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Starts every service of the embedded cloud, provisioned. No rule or schedule fires, and functions do nothing. */
export async function startAwsPort() {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-aws-port-"));
  const environment = { ...process.env };
  const service = (name: string) => ({ dataDirectory: join(directory, name) });
  const iam = createIam({ world: localWorld(), functionPermissions, secret: "a secret" });
  let opened: (services: readonly Service[]) => void = () => undefined;
  const front = createFront(new Promise<readonly Service[]>((resolve) => (opened = resolve)), iam);
  await listen(front, 0, "");
  const endpoint = `http://127.0.0.1:${portOf(front)}`;
  Object.assign(process.env, functionEnvironment(endpoint, { allowLoopback: false, ownPorts: [] }), {
    AWS_ACCESS_KEY_ID: iam.owner.accessKeyId,
    AWS_SECRET_ACCESS_KEY: iam.owner.secretAccessKey,
  });

  const bundles = ensureBuild();
  const bundle = join(directory, "function.js");
  writeFileSync(bundle, "exports.handler = async () => ({});");
  const clock = new ManualClock(Date.now());
  const targets = {
    functions: { invoke: async () => ({ payload: {} }), invokeAsync: async () => undefined },
    startExecution: async () => undefined,
    parseSchedule,
  };
  const logs = await createLogs(service("logs"));
  const events = createEvents({ ...service("events"), ...targets, clock });
  const batch = createBatch({ ...service("batch"), logs, events, images: {}, hostPath: bundle });
  const services: readonly Service[] = [
    createScheduler({ ...service("scheduler"), ...targets, clock }),
    batch,
    await createStepFunctions({ ...service("states"), functions: targets.functions, events }),
    events,
    createLambda({
      ...service("lambda"),
      runtimePath: join(bundles, "lambda-runtime.js"),
      functions: functions.map(({ name }) => ({
        ...{ name: functionNameIn(localConfig().prefix, name), bundle, environment: {} },
        ...{ timeoutSeconds: 30, memoryMb: 128 },
      })),
    }),
    createSns(service("sns")),
    await createDynamoDb(service("dynamodb")),
    await createS3({ ...service("s3"), events }),
    createSts(iam),
    createRolePolicies(iam, service("iam")),
    logs,
  ];
  opened(services);
  await provision(readFileSync(join(bundles, "state-machines", "training-run.asl.json"), "utf8"));

  /** Sends a request, signed if there are keys. */
  async function send(request: Unsigned, keys: Keys | undefined): Promise<Answer> {
    const { host: _host, ...headers } = keys ? await sign(request, keys) : { host: "", ...request.headers };
    const { method = "GET", body, url } = request;
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    return { status: response.status, text: await response.text() };
  }

  return {
    iam,
    endpoint,
    send,
    async stop() {
      for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
      Object.assign(process.env, environment);
      front.closeAllConnections();
      await new Promise((closed) => front.close(closed));
      for (const one of services) await one.close();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
