import { HttpClient } from "./client";
import { startTime, type Target, valueAt } from "./targets";

export interface LoadOptions {
  readonly clients: number;
  readonly metrics: number;
  readonly seconds: number;
  readonly oneRun: boolean;
  readonly checkEvery: number;
}

export interface LoadResult {
  readonly target: string;
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  /** Processor time of the server per call in milliseconds, without other programs of the machine. */
  readonly cpuMs: number;
  readonly checkedPoints: number;
  readonly lost: number;
  readonly doubled: number;
  readonly wrong: number;
}

/**
 * Runs a closed loop: each client sends its next call once the last was answered. Then everything is read back.
 *
 * @param cpuOf returns the server's processor time in milliseconds
 */
export async function runLoad(
  base: string,
  target: Target,
  options: LoadOptions,
  cpuOf: () => number,
): Promise<LoadResult> {
  const { clients, seconds, oneRun } = options;
  const client = new HttpClient(base, clients);
  const metrics = Array.from({ length: options.metrics }, (_, i) => `layer_${i % 50}/statistic_${i}`);
  const runs: string[] = [];
  for (let i = 0; i < (oneRun ? 1 : clients); i += 1) runs.push(await target.createRun(client));
  const latencies: number[] = [];
  /** By run. */
  const acknowledged = new Map<string, number[]>(runs.map((runId) => [runId, []]));
  const cpuBefore = cpuOf();
  const startedAt = performance.now();
  const until = startedAt + 1000 * seconds;

  const send = async (index: number): Promise<void> => {
    const runId = runs[index % runs.length]!;
    const template = target.template(runId, metrics);
    const path = target.logPath(runId);
    for (let call = 0; performance.now() < until; call += 1) {
      const step = oneRun ? call * clients + index : call;
      const body = template.join(String(step));
      const before = performance.now();
      await client.call("POST", path, body);
      latencies.push(performance.now() - before);
      acknowledged.get(runId)!.push(step);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => send(index)));
  const took = (performance.now() - startedAt) / 1000;
  const cpuMs = (cpuOf() - cpuBefore) / latencies.length;
  const checked = await readBack(client, target, metrics, acknowledged, options.checkEvery);
  client.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))]!;
  return {
    target: target.name,
    requests: latencies.length,
    perSecond: latencies.length / took,
    p50: at(0.5),
    p99: at(0.99),
    worst: latencies.at(-1)!,
    cpuMs,
    ...checked,
  };
}

async function readBack(
  client: HttpClient,
  target: Target,
  metrics: readonly string[],
  acknowledged: ReadonlyMap<string, readonly number[]>,
  every: number,
) {
  const result = { checkedPoints: 0, lost: 0, doubled: 0, wrong: 0 };
  const reads = [...acknowledged].flatMap(([runId, steps]) =>
    metrics.map((metric, i) => ({ runId, steps, metric, i })).filter(({ i }) => every > 0 && i % every === 0),
  );
  const read = async (): Promise<void> => {
    for (let next = reads.pop(); next !== undefined; next = reads.pop()) {
      const { runId, steps, metric, i } = next;
      const points = await target.history(client, runId, metric);
      const seen = new Set(points.map(({ step }) => step));
      result.checkedPoints += points.length;
      result.doubled += points.length - seen.size;
      result.lost += steps.filter((step) => !seen.has(step)).length;
      result.wrong += points.filter(({ value, time }) => value !== valueAt(i) || time !== startTime).length;
    }
  };
  await Promise.all(Array.from({ length: 8 }, read));
  return result;
}
