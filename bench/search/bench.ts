import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { mlflowVersion, startMlflow } from "../../test/peers/mlflow/server";
import { seededRandom } from "../elastic/random";
import { createJsonClient, type JsonClient } from "../records/clients";
import { native, runContent } from "../records/ways";
import { parseOptions } from "../support/arguments";
import { processTimeOf } from "../support/cpu";
import { peersPython } from "../support/peer-python";
import { startReport } from "../support/report";
import { startStack } from "../support/stack";
import { markdownTable } from "../support/table";
import { type Ask, mlflowSearch, nativeParamSearch, nativeSearch, type Search } from "./searches";

interface Measured {
  readonly name: string;
  readonly limit: number;
  readonly p50: number;
  readonly p95: number;
  /** Processor time of the server per search; unknown for a peer with several processes. */
  readonly processorMs?: number;
}

interface Subject {
  readonly name: string;
  readonly client: JsonClient;
  readonly experiment: string;
  readonly ask: Ask;
  readonly pid?: number;
}

/** Measures a metric filter and an order over many runs of one experiment, alternating with MLflow's server. */
export async function benchSearch(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { runs: 10_000, searches: 60, limits: "20,100,1000", noPeer: false });
  const { runs: count } = values;
  const report = startReport(values.json);
  const stack = startStack();
  const ours = createJsonClient(stack.api, 16);
  const withPeer = !values.noPeer && mlflowVersion !== undefined;
  let peerExperiment = "";
  const peer = withPeer ? await startMlflow((uri) => (peerExperiment = fillMlflow(uri, count))) : undefined;
  const theirs = peer && createJsonClient(peer.base, 16);
  try {
    const { experiment, firstMs } = await fill(ours, count);
    const subjects: readonly Subject[] = [
      { name: "native API", client: ours, experiment, ask: nativeSearch, pid: stack.pid },
      { name: "native API, a param's range", client: ours, experiment, ask: nativeParamSearch, pid: stack.pid },
      { name: "MLflow's protocol", client: ours, experiment, ask: mlflowSearch, pid: stack.pid },
      ...(theirs
        ? [{ name: `MLflow ${mlflowVersion}, SQLite`, client: theirs, experiment: peerExperiment, ask: mlflowSearch }]
        : []),
    ];
    const results: Measured[] = [];
    for (const limit of values.limits.split(",").map(Number)) {
      results.push(...(await measure(subjects, limit, values.searches)));
    }
    const first = `${count} runs; the first search, which loads them: ${firstMs.toFixed(0)} ms`;
    report({ runs: count, firstMs, results }, first, "", tableOf(results));
  } finally {
    ours.close();
    theirs?.close();
    await peer?.stop();
    stack.close();
  }
  if (!withPeer && !values.noPeer) {
    process.stderr.write("MLflow is not installed here: RINGMASTER_PEERS_PYTHON names a Python that has it\n");
  }
}

async function fill(client: JsonClient, count: number) {
  const experiment = await native.prepare(client);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await native.create(client, experiment, runContent(index));
  };
  await Promise.all(Array.from({ length: 16 }, work));
  // Recently changed runs are read again by each search.
  await new Promise((resolve) => setTimeout(resolve, 7_000));
  const start = performance.now();
  await nativeSearch(client, experiment, { below: 0.5, limit: 1 });
  return { experiment, firstMs: performance.now() - start };
}

function fillMlflow(databaseUri: string, count: number): string {
  const input = JSON.stringify({ runs: Array.from({ length: count }, (_, index) => runContent(index)) });
  const script = join(process.cwd(), "bench", "search", "fill-mlflow.py");
  const { status, stdout, stderr } = spawnSync(peersPython(), [script, databaseUri], { input, encoding: "utf8" });
  if (status !== 0) throw new Error(`MLflow's database could not be filled: ${stderr}`);
  return stdout.trim().split("\n").at(-1)!;
}

async function measure(subjects: readonly Subject[], limit: number, searches: number): Promise<readonly Measured[]> {
  const random = seededRandom(limit);
  const took = subjects.map((): number[] => []);
  const processor = subjects.map(() => 0);
  for (let round = -3; round < searches; round++) {
    const search: Search = { below: 0.2 + 0.6 * random(), limit };
    const found: (readonly string[])[] = [];
    for (const [at, { client, experiment, ask, pid }] of subjects.entries()) {
      const before = processorTime(pid);
      const start = performance.now();
      found.push(await ask(client, experiment, search));
      const elapsed = performance.now() - start;
      // The first rounds warm up.
      if (round < 0) continue;
      took[at]!.push(elapsed);
      processor[at]! += processorTime(pid) - before;
    }
    const same = found.filter((_, at) => subjects[at]!.ask !== nativeParamSearch).map((names) => names.join());
    if (new Set(same).size > 1) throw new Error(`they found different runs for ${JSON.stringify(search)}`);
  }
  return subjects.map(({ name, pid }, at) => {
    const sorted = took[at]!.sort((a, b) => a - b);
    const quantile = (q: number): number => sorted[Math.floor(sorted.length * q)]!;
    return {
      name,
      limit,
      p50: quantile(0.5),
      p95: quantile(0.95),
      ...(pid === undefined ? {} : { processorMs: processor[at]! / searches }),
    };
  });
}

function processorTime(pid: number | undefined): number {
  return (pid === undefined ? undefined : processTimeOf(pid)) ?? 0;
}

function tableOf(results: readonly Measured[]): string {
  const ms = (value: number | undefined): string => (value === undefined ? "–" : `${value.toFixed(1)} ms`);
  return markdownTable(
    ["searched through", "runs a page", "p50", "p95", "server's processor time"],
    results.map(({ name, limit, p50, p95, processorMs }) => [name, String(limit), ms(p50), ms(p95), ms(processorMs)]),
  );
}
