import path from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { Table } from "../../adapters/dynamodb/table";
import { testIam } from "../../test/support/iam";
import { parseOptions } from "../support/arguments";
import { LineProcess } from "../support/line-process";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { type DayLine, measureDay } from "./day";
import { type CycleLine, measureCycles, type Services } from "./objects";

/** Measures reclamation. `--objects N` (100,000), `--only day|cycles`, `--json` for machines. */
export async function benchReclamation(args: readonly string[]): Promise<void> {
  const { objects: count, only, json } = parseOptions(args, { objects: 100_000, only: "" });
  const report = startReport(json);
  const child = new LineProcess(process.execPath, [path.join(__dirname, "reclamation-services.js")]);
  const { endpoint, pid } = await child.receive<{ readonly endpoint: string; readonly pid: number }>();
  const connection = { endpoint, region: "us-east-1", credentials: testIam.owner };
  const client = new S3Client({ ...connection, forcePathStyle: true, responseChecksumValidation: "WHEN_REQUIRED" });
  const dynamodb = new DynamoDBClient(connection);
  const bucket = "ringmaster-data";
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  await dynamodb.send(
    new CreateTableCommand({
      TableName: "ringmaster-Catalog",
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: ["pk", "sk"].map((name) => ({ AttributeName: name, AttributeType: "S" as const })),
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
    }),
  );
  const services: Services = {
    pid,
    bucket,
    table: new Table(createDocumentClient(dynamodb), "ringmaster-Catalog"),
    async setClock(offset) {
      child.send(offset);
      await child.receive();
    },
  };
  try {
    const day = only === "cycles" ? undefined : await measureDay(services, client);
    const cycles = only === "day" ? [] : await measureCycles(count, services, client);
    report({ count, day, cycles }, ...dayTable(day), ...cyclesTable(count, cycles));
  } finally {
    client.destroy();
    dynamodb.destroy();
    child.end();
  }
}

function dayTable(day: DayLine | undefined): readonly string[] {
  if (!day) return [];
  const { stateBytes, checkpoints, sentBytes, largestBytes, endBytes } = day;
  const times = (bytes: number) => (bytes / stateBytes).toFixed(2);
  const columns = ["checkpoints of a day, keep 3", "sent, × state", "stored at most, × state", "at the end, × state"];
  return ["", markdownTable(columns, [[String(checkpoints), times(sentBytes), times(largestBytes), times(endBytes)]])];
}

function cyclesTable(count: number, cycles: readonly CycleLine[]): readonly string[] {
  if (cycles.length === 0) return [];
  const columns = [
    `cycle over ${count} objects`,
    "s",
    "CPU s",
    "CPU s of the services",
    "deleted",
    "without a reference",
  ];
  const rows = cycles.map((line) => [
    ...[line.cycle, line.seconds.toFixed(1), line.clientCpuSeconds.toFixed(1)],
    ...[line.serviceCpuSeconds?.toFixed(1) ?? "–", String(line.deleted), String(line.unreferenced)],
  ]);
  return ["", markdownTable(columns, rows)];
}
