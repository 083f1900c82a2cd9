import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { S3 } from "@aws-sdk/client-s3";
import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { createRunKeys } from "../../../adapters/dynamodb/run-keys";
import { createRunRepository } from "../../../adapters/dynamodb/run-repository";
import { Table } from "../../../adapters/dynamodb/table";
import type { Run } from "../../../core/runs/shapes";
import { createDynamoDb } from "../../../local/dynamodb";
import { createFront } from "../../../local/front";
import { createRolePolicies } from "../../../local/iam/role-policies";
import { createSts } from "../../../local/iam/sts";
import { createLambda } from "../../../local/lambda";
import { listen, portOf } from "../../../local/listen";
import { createS3 } from "../../../local/s3";
import type { Service } from "../../../local/service";
import { publicTargets } from "../../../platform/config";
import { type FunctionName, functionNameIn } from "../../../platform/functions";
import { tables } from "../../../platform/tables";
import { ensureBuild } from "../../../scripts/build.js";
import { createIam, jobRoleName } from "../../../stack/iam";
import { functionEnvironment, localConfig, localWorld } from "../../../stack/settings";
import { recordOfRun } from "../../support/fixtures";
import { functionPermissions } from "../../support/permissions";
import { shapeOf } from "../dynamodb/harness";

export async function startPlatform() {
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-iam-"));
  const config = localConfig();
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const iam = createIam({ world: localWorld(), functionPermissions, secret: "a secret", clock });
  let opened: (services: readonly Service[]) => void = () => undefined;
  const front = createFront(new Promise<readonly Service[]>((resolve) => (opened = resolve)), iam);
  await listen(front, 0, "");
  const endpoint = `http://127.0.0.1:${portOf(front)}`;
  const roleOf = (name: FunctionName) => functionNameIn(config.prefix, name);
  const bundles = ensureBuild();
  const lambda = createLambda({
    dataDirectory: join(directory, "lambda"),
    runtimePath: join(bundles, "lambda-runtime.js"),
    functions: (["run-credentials", "end-sessions", "ingest-metrics", "promote"] as const).map((name) => ({
      name: roleOf(name),
      bundle: join(bundles, "lambdas", `${name}.js`),
      environment: { ...functionEnvironment(endpoint, publicTargets), ...iam.environmentOf(roleOf(name), name) },
      timeoutSeconds: 30,
      memoryMb: 256,
    })),
  });
  const services: readonly Service[] = [
    await createDynamoDb({ dataDirectory: join(directory, "dynamodb") }),
    await createS3({ dataDirectory: join(directory, "s3"), events: { put: () => undefined } }),
    createSts(iam),
    createRolePolicies(iam, { dataDirectory: join(directory, "iam") }),
    lambda,
  ];
  opened(services);

  const connection = { endpoint, region: "us-east-1", credentials: iam.owner, maxAttempts: 1 };
  const dynamodb = new DynamoDB(connection);
  const s3 = new S3(connection);
  await s3.createBucket({ Bucket: config.bucket });
  for (const table of tables)
    await dynamodb.createTable({ TableName: `${config.prefix}-${table.name}`, ...shapeOf(table) });
  const documents = createDocumentClient(dynamodb);
  const runs = createRunRepository(new Table(documents, config.tables.catalog));
  return {
    iam,
    clock,
    config,
    connection,
    s3,
    documents,
    runs,
    createRun: (run: Run) => runs.create(run, recordOfRun(run)),
    keys: createRunKeys(new Table(documents, config.tables.catalog)),
    jobEnvironment: (runId: string, runKey: string) => ({
      ...functionEnvironment(endpoint, publicTargets),
      ...iam.environmentOf(jobRoleName(config.prefix), "trainer"),
      RINGMASTER_CREDENTIALS_FUNCTION: roleOf("run-credentials"),
      RINGMASTER_RUN_ID: runId,
      RINGMASTER_RUN_KEY: runKey,
    }),
    credentialsOf: (role: string) => iam.issue({ role, name: "test" }),
    async stop() {
      dynamodb.destroy();
      s3.destroy();
      front.closeAllConnections();
      await new Promise((closed) => front.close(closed));
      for (const service of services) await service.close();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export type TestPlatform = Awaited<ReturnType<typeof startPlatform>>;
