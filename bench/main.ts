import { benchAsOf } from "./asof/bench";
import { benchCheckpoint } from "./checkpoint/bench";
import { benchCollective } from "./collective/bench";
import { benchContainers } from "./containers/bench";
import { benchElastic } from "./elastic/bench";
import { benchFuzz } from "./fuzz/bench";
import { benchGpuCheck } from "./gpu-check/bench";
import { benchIngest } from "./ingest/bench";
import { benchKills } from "./kills/bench";
import { benchLarge } from "./large/bench";
import { benchModels } from "./models/bench";
import { benchOnline } from "./online/bench";
import { benchPipelines } from "./pipelines/bench";
import { benchPowerLoss } from "./power-loss/bench";
import { benchPromotions } from "./promotions/bench";
import { benchScale } from "./scale/bench";
import { BadOptionError } from "./support/arguments";
import { benchTrain } from "./train/bench";
import { benchTuning } from "./tuning/bench";

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  asof: benchAsOf,
  checkpoint: benchCheckpoint,
  collective: benchCollective,
  containers: benchContainers,
  elastic: benchElastic,
  fuzz: benchFuzz,
  "gpu-check": benchGpuCheck,
  ingest: benchIngest,
  kills: benchKills,
  large: benchLarge,
  models: benchModels,
  online: benchOnline,
  pipelines: benchPipelines,
  "power-loss": benchPowerLoss,
  promotions: benchPromotions,
  scale: benchScale,
  train: benchTrain,
  tuning: benchTuning,
};

const [name = "", ...args] = process.argv.slice(2);
const bench = benches[name];
if (bench) {
  const run = async () => bench(args);
  run().catch((error: unknown) => {
    const isWrongUse =
      error instanceof BadOptionError || /^ERR_PARSE_ARGS/.test((error as { code?: string }).code ?? "");
    process.stderr.write(`${error instanceof Error && !isWrongUse ? error.stack : (error as Error).message}\n`);
    process.exitCode = isWrongUse ? 2 : 1;
  });
} else {
  process.stderr.write(`usage: npm run bench -- <${Object.keys(benches).join(" | ")}> [--json]\n`);
  process.exitCode = 2;
}
