import type { DecodedShard } from "../features/encoding";
import type { ObjectStore } from "../ports";
import type { ContentReference } from "../shapes";
import type { RowPredictor } from "./predict";
import type { LatencyReport } from "./shapes";

export type Machine = LatencyReport["machine"];

export interface Stopwatch {
  /** Returns milliseconds with fractions; monotonic. */
  now(): number;
  readonly machine: Machine;
}

/** Number of rounds. Their percentiles' median leaves out rounds in which other processes had the processor. */
export const latencyRounds = 5;
/** The p99 of a round of 200 predictions has two above it. */
export const maxPredictions = 1_000;
/** For a trial: a thousand predictions of a small model take a third of its evaluation. */
export const maxPredictionsOfTrial = 200;
const minPredictions = 100;
const warmUp = 50;
/** Time limit for measuring; a large model is measured with fewer predictions. */
const budgetMs = 3_000;
const maxRows = 64;
const bins = 24;

/**
 * Measures a registered model's latency again, with a row of zeros; `undefined` if its files cannot be loaded here. The
 * times of a prediction do not depend on the values.
 */
export type TimeModel = (
  objects: Pick<ObjectStore, "getContent">,
  files: { readonly topology: ContentReference; readonly weights: ContentReference },
) => Promise<LatencyReport | undefined>;

/**
 * Measures the model's latency for one row at a time: dense input in, prediction out, without the feature transform and
 * the network. The first predictions compile and allocate, and are not counted. Each percentile is the median of those
 * of the rounds.
 *
 * @returns `undefined` if there are no rows
 */
export function measureLatency(
  predictor: RowPredictor,
  rows: readonly Float32Array[],
  stopwatch: Stopwatch,
  predictions = maxPredictions,
): LatencyReport | undefined {
  if (rows.length === 0) return undefined;
  const begun = stopwatch.now();
  let warmed = 0;
  while (warmed < warmUp && (warmed === 0 || stopwatch.now() - begun < budgetMs)) {
    predictor.predict(rows[warmed % rows.length]!, 1);
    warmed += 1;
  }
  const rounds = Array.from({ length: latencyRounds }, (_, round) => {
    const times: number[] = [];
    const first = stopwatch.now();
    for (let before = first; times.length < predictions / latencyRounds; ) {
      if (times.length >= minPredictions / latencyRounds && before - first >= budgetMs / latencyRounds) break;
      predictor.predict(rows[(round + times.length) % rows.length]!, 1);
      const after = stopwatch.now();
      times.push(after - before);
      before = after;
    }
    return Float64Array.from(times).sort();
  });
  const sorted = Float64Array.from(rounds.flatMap((times) => [...times])).sort();
  const rank = (share: number): number => {
    const ofRounds = rounds.map((times) => times[Math.ceil(share * times.length) - 1]!);
    return rounded(ofRounds.sort((a, b) => a - b)[(latencyRounds - 1) / 2]!);
  };
  return {
    predictions: sorted.length,
    warmUp: warmed,
    p50Ms: rank(0.5),
    p90Ms: rank(0.9),
    p99Ms: rank(0.99),
    maxMs: rounded(sorted.at(-1)!),
    histogram: histogramOf(sorted),
    machine: stopwatch.machine,
  };
}

function histogramOf(sorted: Float64Array): LatencyReport["histogram"] {
  const least = Math.max(sorted[0]!, 1e-6);
  const most = Math.max(sorted.at(-1)!, least);
  if (most === least) return [{ fromMs: rounded(least), toMs: rounded(most), count: sorted.length }];
  const counts = new Array<number>(bins).fill(0);
  for (const time of sorted) {
    const at = Math.floor((Math.log(Math.max(time, least) / least) / Math.log(most / least)) * bins);
    counts[Math.min(at, bins - 1)]! += 1;
  }
  const bound = (at: number): number => rounded(least * (most / least) ** (at / bins));
  return counts.map((count, at) => ({ fromMs: bound(at), toMs: bound(at + 1), count }));
}

export async function latencyRows(
  shards: AsyncIterable<DecodedShard>,
  width: number,
): Promise<readonly Float32Array[]> {
  for await (const shard of shards) {
    return Array.from({ length: Math.min(maxRows, shard.rows) }, (_, row) => {
      const input = new Float32Array(width);
      shard.writeRow(row, input, 0);
      return input;
    });
  }
  return [];
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toPrecision(6));
}
