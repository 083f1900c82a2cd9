import { type Algorithm, chooseAlgorithm } from "../../../trainer-container/reduction/halving";
import type { LinkModel } from "./links";
import { simulateSum } from "./simulated-sum";
import { microBatchesFor } from "./topology";

export interface SumLine {
  readonly workers: number;
  readonly bytes: number;
  /** Milliseconds of one all-reduce. */
  readonly direct: number;
  /** Above `executedDirect` workers the direct exchange is also a formula. */
  readonly directExecuted: boolean;
  readonly halvingDoubling: number;
  readonly ring: number;
  readonly twoLevel: number;
  readonly chosen: Algorithm;
}

/** The direct exchange has 2 W² messages: a million at W = 700. */
const executedDirect = 128;

export async function measureSums(workers: number, bytes: number, links: LinkModel): Promise<SumLine> {
  const shape = { worldSize: workers, microBatches: microBatchesFor(workers), elements: Math.round(bytes / 4) };
  const directExecuted = workers <= executedDirect;
  const run = async (algorithm: Algorithm) => (await simulateSum({ ...shape, algorithm, links })).ms;
  return {
    workers,
    bytes,
    direct: directExecuted ? await run("direct") : formulas.direct(workers, bytes, links),
    directExecuted,
    halvingDoubling: await run("halving-doubling"),
    ring: formulas.ring(workers, bytes, links),
    twoLevel: formulas.twoLevel(workers, bytes, links),
    chosen: chooseAlgorithm(shape),
  };
}

/**
 * Sums of latencies, messages and bytes. Overlap is modelled only for wire and processor, of which the slower counts. All send
 * 2(W−1)/W of the vector.
 */
const formulas = {
  direct: (workers: number, bytes: number, links: LinkModel) =>
    timeOf(2, 2 * (workers - 1), ((2 * (workers - 1)) / workers) * bytes, links),
  /** Does not keep the canonical tree; for comparison. */
  ring: (workers: number, bytes: number, links: LinkModel) =>
    timeOf(2 * (workers - 1), 2 * (workers - 1), ((2 * (workers - 1)) / workers) * bytes, links),
  /** Direct reduce-scatter within groups of about √W, direct all-reduce of each part across groups, direct all-gather within. */
  twoLevel: (workers: number, bytes: number, links: LinkModel) => {
    const group = 2 ** Math.round(Math.log2(workers) / 2);
    const messages = 2 * (group - 1) + 2 * (Math.ceil(workers / group) - 1);
    return timeOf(4, messages, ((2 * (workers - 1)) / workers) * bytes, links);
  },
};

/** @param messages number that a rank sends, equal to the number that it receives */
function timeOf(latencies: number, messages: number, bytes: number, links: LinkModel): number {
  const perByteNs = Math.max(8 / links.gigabitsPerSecond, links.sendNsPerByte + links.receiveNsPerByte);
  return (latencies * links.latencyUs + messages * 2 * links.messageUs) / 1e3 + (bytes * perByteNs) / 1e6;
}
