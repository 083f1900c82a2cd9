import * as fs from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDocumentClient } from "../../adapters/dynamodb/client";
import { createOnlineStore, createViewRepository } from "../../adapters/dynamodb/feature-store";
import { Table } from "../../adapters/dynamodb/table";
import { ownerKeysOf, stackSecret } from "../../adapters/files/owner-keys";
import { defaultTeam } from "../../core/access/principals";
import { readOnline } from "../../core/feature-store/online";
import { resolveView } from "../../core/feature-store/registry";
import { localConfig } from "../../stack/settings";
import { parseOptions } from "../support/arguments";
import { processTimeOf } from "../support/cpu";
import { startReport } from "../support/report";
import { type BenchStack, startStack } from "../support/stack";
import { markdownTable } from "../support/table";

const clients = 8;
const features = 20;
const entities = 2_000;
const warmUps = 500;

/** Reads the features of a customer. @returns JSON with all of them */
type Read = (customer: number) => Promise<string>;

/**
 * Reads 20 features of one entity by 8 clients at the same time: through the API, as users call it, and by the library in
 * this process, as Feast's SDK reads. The API is measured twice, because a stack that has just started still compiles its
 * code. `--reads N` (8,000), `--json`.
 */
export async function benchOnline(args: readonly string[]): Promise<void> {
  const { reads, json } = parseOptions(args, { reads: 8_000 });
  const report = startReport(json);
  const stack = startStack();
  try {
    fill(stack);
    const agent = new Agent({ keepAlive: true, maxSockets: clients });
    const byApi: Read = (customer) => readByApi(stack.api, agent, customer);
    const started = await measure(stack, byApi, reads);
    const warm = await measure(stack, byApi, reads);
    agent.destroy();
    const library = await measure(stack, libraryOf(stack), reads);
    const row = (name: string, { p50, p95, p99, readsPerSecond, stackMs, clientMs }: Measured) => [
      ...[name, ...[p50, p95, p99].map((ms) => ms.toFixed(2)), readsPerSecond.toFixed(0)],
      ...[stackMs, clientMs].map((ms) => ms.toFixed(2)),
    ];
    report(
      { clients, features, reads, started, warm, library },
      `${clients} clients, ${features} features of one view, ${entities} entities, ${reads} reads; processor time of a read, in the stack and in the clients' process`,
      "",
      markdownTable(
        ["", "p50 ms", "p95 ms", "p99 ms", "reads a second", "stack ms", "clients ms"],
        [
          row("through the API, stack just started", started),
          row("through the API, afterwards", warm),
          row("library in process, embedded DynamoDB", library),
        ],
      ),
    );
  } finally {
    stack.close();
  }
}

function fill({ directory, ringmaster }: BenchStack): void {
  const names = Array.from({ length: features }, (_, k) => `f${k}`);
  const view = [
    ...["name: customers", "entities: [customer]", "eventTime: at", "columns:", "  customer: int", "  at: timestamp"],
    ...names.map((name) => `  ${name}: float`),
  ];
  const [viewFile, rowsFile] = [join(directory, "view.yaml"), join(directory, "rows.csv")];
  fs.writeFileSync(viewFile, view.join("\n"));
  const rows = Array.from({ length: entities }, (_, customer) =>
    [customer, "2026-01-01T00:00:00Z", ...names.map((_name, k) => ((customer * 31 + k * 17) % 1_000) / 7)].join(","),
  );
  fs.writeFileSync(rowsFile, [["customer", "at", ...names].join(","), ...rows].join("\n"));
  ringmaster(["views", "push", viewFile]);
  ringmaster(["views", "ingest", "customers", "--file", rowsFile]);
  ringmaster(["views", "materialize", "customers"]);
}

interface Measured {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly readsPerSecond: number;
  /** Processor time of a read in milliseconds. */
  readonly stackMs: number;
  readonly clientMs: number;
}

async function measure({ pid }: BenchStack, read: Read, reads: number): Promise<Measured> {
  await timesOf(read, warmUps);
  const [start, cpu, stackCpu] = [performance.now(), process.cpuUsage(), processTimeOf(pid) ?? 0];
  const times = (await timesOf(read, reads)).sort((a, b) => a - b);
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))]!;
  return {
    ...{ p50: at(0.5), p95: at(0.95), p99: at(0.99), readsPerSecond: reads / seconds },
    ...{ stackMs: ((processTimeOf(pid) ?? 0) - stackCpu) / reads, clientMs: (user + system) / 1_000 / reads },
  };
}

/** Returns the milliseconds of each read. */
async function timesOf(read: Read, reads: number): Promise<number[]> {
  const times: number[] = [];
  let started = 0;
  const client = async (): Promise<void> => {
    while (started < reads) {
      const customer = (started * 7_919) % entities;
      started += 1;
      const start = performance.now();
      const answer = await read(customer);
      times.push(performance.now() - start);
      if (!answer.includes('"f19":')) throw new Error(`the features of customer ${customer} are missing: ${answer}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times;
}

/** Reads in this process from the stack's DynamoDB, with the ports and the code of the API's route. */
function libraryOf({ directory, endpoint }: BenchStack): Read {
  const credentials = ownerKeysOf(stackSecret(join(directory, "data")));
  const documents = createDocumentClient(new DynamoDBClient({ endpoint, region: "us-east-1", credentials }));
  const { tables } = localConfig();
  const clock = { now: () => Date.now() };
  const { find, findRecent } = createViewRepository(new Table(documents, tables.catalog), defaultTeam, clock);
  const ports = { online: createOnlineStore(new Table(documents, tables.features), defaultTeam), clock };
  return async (customer) => {
    const version = await resolveView({ find, findNewest: findRecent }, "customers");
    return JSON.stringify(await readOnline(ports, [version], [{ customer }]));
  };
}

function readByApi(api: string, agent: Agent, customer: number): Promise<string> {
  const body = JSON.stringify({ views: ["customers"], entities: [{ customer }] });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(`${api}/api/v1/online-features`, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("end", () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`status ${response.statusCode}: ${text}`)),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
