import path from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { Table } from "../../adapters/dynamodb/table";
import { testIam } from "../../test/support/iam";
import { LineProcess } from "../support/line-process";
import { describeMachine, machineLine } from "../support/machine";
import { markdownTable } from "../support/table";
import { type DayLine, measureDay } from "./day";
import { type CycleLine, measureCycles, type Services } from "./objects";

/** Measures reclamation. `--objects N` (100,000), `--only day|cycles`, `--json` for machines. */
export async function benchReclamation(args: readonly string[]): Promise<void> {
  const value = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const count = Number(value("--objects") ?? 100_000);
  const only = value("--only");
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
    print(args.includes("--json"), { count, day, cycles });
  } finally {
    client.destroy();
    dynamodb.destroy();
    child.end();
  }
}

interface Results {
  readonly count: number;
  readonly day: DayLine | undefined;
  readonly cycles: readonly CycleLine[];
}

function print(json: boolean, { count, day, cycles }: Results): void {
  const machine = describeMachine();
  if (json) {
    process.stdout.write(`${JSON.stringify({ machine, count, day, cycles })}\n`);
    return;
  }
  const parts = [machineLine(machine)];
  if (day) {
    const { stateBytes, checkpoints, sentBytes, largestBytes, endBytes } = day;
    const times = (bytes: number) => (bytes / stateBytes).toFixed(2);
    parts.push(
      markdownTable(
        ["checkpoints of a day, keep 3", "sent, × state", "stored at most, × state", "at the end, × state"],
        [[String(checkpoints), times(sentBytes), times(largestBytes), times(endBytes)]],
      ),
    );
  }
  if (cycles.length > 0) {
    parts.push(
      markdownTable(
        [`cycle over ${count} objects`, "s", "CPU s", "CPU s of the services", "deleted", "without a reference"],
        cycles.map((line) => [
          line.cycle,
          line.seconds.toFixed(1),
          line.clientCpuSeconds.toFixed(1),
          line.serviceCpuSeconds?.toFixed(1) ?? "–",
          String(line.deleted),
          String(line.unreferenced),
        ]),
      ),
    );
  }
  process.stdout.write(`${parts.join("\n\n")}\n`);
}
