import * as fs from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { describeMachine, machineLine } from "../support/machine";
import { startStack } from "../support/stack";
import { markdownTable } from "../support/table";

const clients = 8;
const features = 20;
const entities = 2_000;
const warmUps = 500;

/** Reads 20 features of one entity through the API, by 8 clients at the same time. `--reads N` (8,000), `--json`. */
export async function benchOnline(args: readonly string[]): Promise<void> {
  const reads = args.includes("--reads") ? Number(args[args.indexOf("--reads") + 1]) : 8_000;
  const stack = startStack();
  try {
    fill(stack);
    const agent = new Agent({ keepAlive: true, maxSockets: clients });
    await measure(stack.api, agent, warmUps);
    const start = performance.now();
    const times = (await measure(stack.api, agent, reads)).sort((a, b) => a - b);
    const seconds = (performance.now() - start) / 1_000;
    agent.destroy();
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))]!;
    const result = { p50: at(0.5), p95: at(0.95), p99: at(0.99), readsPerSecond: reads / seconds };
    const machine = describeMachine();
    if (args.includes("--json")) {
      process.stdout.write(`${JSON.stringify({ machine, clients, features, reads, ...result })}\n`);
      return;
    }
    const row = [...[result.p50, result.p95, result.p99].map((ms) => ms.toFixed(2)), result.readsPerSecond.toFixed(0)];
    process.stdout.write(
      `${machineLine(machine)}\n${clients} clients, ${features} features of one view, ${entities} entities, ${reads} reads through the API\n\n${markdownTable(["p50 ms", "p95 ms", "p99 ms", "reads a second"], [row])}\n`,
    );
  } finally {
    stack.close();
  }
}

/** Registers the view, and stores a row for each entity in both stores. */
function fill({ directory, ringmaster }: ReturnType<typeof startStack>): void {
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

/** Returns the milliseconds of each read. */
async function measure(api: string, agent: Agent, reads: number): Promise<number[]> {
  const times: number[] = [];
  let started = 0;
  const client = async (): Promise<void> => {
    while (started < reads) {
      const customer = (started * 7_919) % entities;
      started += 1;
      const start = performance.now();
      const answer = await read(api, agent, customer);
      times.push(performance.now() - start);
      if (!answer.includes('"f19":')) throw new Error(`the features of customer ${customer} are missing: ${answer}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return times;
}

function read(api: string, agent: Agent, customer: number): Promise<string> {
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
