import { describePeer, findTorch, type PeerPython, peerLine } from "../support/peer-python";
import { startReport } from "../support/report";
import { pinning, startApart, startOurs, startTorch, type TrainGang } from "./gangs";
import { benchModels } from "./models";
import { parseTrainOptions, type TrainOptions } from "./options";
import { type Contender, checkParameters, contenderOf, measuresOf, race } from "./race";
import { type Line, renderTable } from "./table";

/** Label of separate trainings of one worker. Their scaling is the maximum that this machine allows a gang. */
const apartLabel = ", apart";
/** Label of gangs in which each worker takes the whole batch with all its micro-batches, so a step has W times the samples. */
const perWorkerLabel = ", per worker";
const peerName = "PyTorch DDP";

async function startContenders(
  model: string,
  batchSize: number,
  worldSize: number,
  options: TrainOptions,
  torch: PeerPython | undefined,
): Promise<Contender[]> {
  const contenders: Contender[] = [];
  const add = async (who: string, start: Promise<TrainGang>, samplesPerStep = batchSize) => {
    contenders.push(contenderOf(who, await start, samplesPerStep));
  };
  const definition = benchModels[model]!;
  const setup = { model: definition, batchSize, backend: "native" as const, microBatches: worldSize };
  try {
    const total = batchSize * worldSize;
    if (torch) {
      await add(peerName, startTorch(worldSize, { ...setup, torch: "ddp" }, torch));
      const wide = { ...setup, batchSize: total, torch: "ddp" as const };
      if (worldSize > 1) await add(`${peerName}${perWorkerLabel}`, startTorch(worldSize, wide, torch), total);
    }
    for (const backend of options.backends) {
      for (const microBatches of new Set([worldSize, ...options.microBatches])) {
        const start = startOurs(worldSize, { ...setup, backend, microBatches });
        await add(`${backend}, V = ${microBatches}`, start);
      }
      for (const microBatches of worldSize > 1 ? options.microBatches : []) {
        const apart = startApart(worldSize, { ...setup, backend, microBatches });
        await add(`${backend}, V = ${microBatches}${apartLabel}`, apart, total);
        const wide = { ...setup, backend, batchSize: total, microBatches: microBatches * worldSize };
        await add(`${backend}, V = ${microBatches}${perWorkerLabel}`, startOurs(worldSize, wide), total);
      }
    }
    checkParameters(contenders);
  } catch (error) {
    for (const { gang } of contenders) gang.close();
    throw error;
  }
  return contenders;
}

/** Returns the row of a line. V = W has another label for each number of workers, but the same row. */
const rowOf = ({ who, worldSize }: Line) =>
  who
    .replace(apartLabel, "")
    .replace(perWorkerLabel, "")
    .replace(new RegExp(`V = ${worldSize}$`), "V = W");

function withScaling(lines: readonly Line[]): Line[] {
  return lines.map((line) => {
    const single = lines.find(
      (other) =>
        other.worldSize === 1 &&
        other.model === line.model &&
        other.batchSize === line.batchSize &&
        rowOf(other) === rowOf(line),
    );
    return line.worldSize === 1 || !single
      ? line
      : { ...line, scaling: line.samplesPerSecond / single.samplesPerSecond };
  });
}

export async function benchTrain(args: readonly string[]): Promise<void> {
  const options = parseTrainOptions(args);
  const report = startReport(options.json);
  const torch = findTorch();
  const lines: Line[] = [];
  for (const model of options.models) {
    for (const batchSize of options.batches) {
      for (const worldSize of options.worldSizes) {
        const peer = typeof torch === "string" ? undefined : torch;
        const contenders = await startContenders(model, batchSize, worldSize, options, peer);
        try {
          await race(contenders, options);
        } finally {
          for (const { gang } of contenders) gang.close();
        }
        for (const contender of contenders) {
          const suffix = contender.who.endsWith(perWorkerLabel) ? perWorkerLabel : "";
          const theirs = contenders.find(({ who }) => who === `${peerName}${suffix}`);
          const alone = contenders.find(({ who }) => who === `${contender.who.replace(suffix, "")}${apartLabel}`);
          if (contender.failure !== undefined) throw new Error(`${contender.who}: ${contender.failure}`);
          const identity = { model, batchSize, worldSize, who: contender.who };
          const overApart = alone && measuresOf(contender, alone).overPeer;
          lines.push({ ...identity, ...measuresOf(contender, theirs), overApart, scaling: undefined });
        }
      }
    }
  }
  const complete = withScaling(lines);
  const { rounds, warmUpSeconds } = options;
  report(
    { peer: describePeer(torch, peerName), pinning, rounds, warmUpSeconds, lines: complete },
    peerLine(torch, "DistributedDataParallel over Gloo, fused Adam"),
    `one thread a worker, ${pinning}; medians over ${rounds} rounds in alternation, after ${warmUpSeconds} s of training`,
    "",
    renderTable(complete),
  );
}
