import { describePeer, findTorch, type PeerPython, peerLine } from "../support/peer-python";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { pinning, startOurs, startTorch, type TrainGang } from "../train/gangs";
import type { BenchModel } from "../train/modules";
import { type Contender, checkParameters, contenderOf, type Measures, measuresOf, race } from "../train/race";
import { type ModelsOptions, parseModelsOptions } from "./options";

interface Line extends Partial<Measures> {
  readonly model: string;
  readonly batchSize: number;
  /** `native`, `torch.compile`. */
  readonly who: string;
  /** Undefined for `torch.compile`, whose first step compiles. */
  readonly firstStepSeconds?: number;
  readonly failure?: string;
}

const peerName = "PyTorch";
const compiledName = "torch.compile";

async function measureModel(
  label: string,
  model: BenchModel,
  batchSize: number,
  options: ModelsOptions,
  torch: PeerPython | undefined,
): Promise<readonly Line[]> {
  const setup = { model, batchSize, backend: "native" as const, microBatches: 1 };
  const contenders: Contender[] = [];
  const add = async (who: string, start: Promise<TrainGang>) =>
    contenders.push(contenderOf(who, await start, batchSize));
  try {
    if (torch) {
      await add(peerName, startTorch(1, { ...setup, torch: "eager" }, torch));
      await add(compiledName, startTorch(1, { ...setup, torch: "compile" }, torch));
    }
    for (const backend of options.backends) {
      await add(backend, startOurs(1, { ...setup, backend, asModule: true }));
      const builtIn = model.type === "mlp" || model.type === "cnn";
      if (builtIn) await add(`${backend}, built-in`, startOurs(1, { ...setup, backend }));
    }
    checkParameters(contenders);
    await race(contenders, options);
  } finally {
    for (const { gang } of contenders) gang.close();
  }
  const peer = contenders.find(({ who, failure }) => who === peerName && failure === undefined);
  return contenders.map((contender): Line => {
    const { who, firstStepSeconds, failure } = contender;
    const identity = { model: label, batchSize, who };
    if (failure !== undefined) return { ...identity, failure };
    return { ...identity, ...measuresOf(contender, peer), ...(who === compiledName ? {} : { firstStepSeconds }) };
  });
}

const columns = ["model", "batch", "", "samples/s", "÷ PyTorch", "CPU ms / 1,000", "÷ PyTorch", "first step, s"];

const cellsOf = (line: Line): readonly string[] => [
  line.model,
  String(line.batchSize),
  line.who,
  line.samplesPerSecond === undefined ? "–" : Math.round(line.samplesPerSecond).toLocaleString("en"),
  line.overPeer?.toFixed(2) ?? "–",
  line.cpuMsPerThousand?.toFixed(1) ?? "–",
  line.cpuOverPeer?.toFixed(2) ?? "–",
  line.firstStepSeconds?.toFixed(2) ?? "–",
];

const failureOf = ({ model, batchSize, who, failure }: Line): readonly string[] =>
  failure === undefined ? [] : [`${who} skipped, ${model}, batches of ${batchSize}: ${failure}`];

export async function benchModels(args: readonly string[]): Promise<void> {
  const options = parseModelsOptions(args);
  const report = startReport(options.json);
  const torch = findTorch();
  const lines: Line[] = [];
  for (const [label, model] of Object.entries(options.models)) {
    for (const batchSize of options.batches) {
      const peer = typeof torch === "string" ? undefined : torch;
      lines.push(...(await measureModel(label, model, batchSize, options, peer)));
    }
  }
  const { rounds } = options;
  report(
    { peer: describePeer(torch, peerName), pinning, rounds, lines },
    peerLine(torch, "fused Adam"),
    ...new Set(lines.flatMap(failureOf)),
    `one worker, one thread, ${pinning}; medians over ${rounds} rounds in alternation`,
    "",
    markdownTable(columns, lines.map(cellsOf)),
  );
}
