import { benchAsOf } from "./asof/bench";
import { benchCheckpoint } from "./checkpoint/bench";
import { benchChecksums } from "./checksums/bench";
import { benchCloud } from "./cloud/bench";
import { benchColdStart } from "./cold-start/bench";
import { benchCollective } from "./collective/bench";
import { benchContract } from "./contract/bench";
import { benchCorruption } from "./corruption/bench";
import { benchData } from "./data/bench";
import { benchDrift } from "./drift/bench";
import { benchElastic } from "./elastic/bench";
import { benchExport } from "./export/bench";
import { benchFiles } from "./files/bench";
import { benchFuzz } from "./fuzz/bench";
import { benchGpuCheck } from "./gpu-check/bench";
import { benchIngest } from "./ingest/bench";
import { benchKernels } from "./kernels/bench";
import { benchKills } from "./kills/bench";
import { benchLarge } from "./large/bench";
import { benchModels } from "./models/bench";
import { benchOnline } from "./online/bench";
import { benchOptimizer } from "./optimizer/bench";
import { benchOverlap } from "./overlap/bench";
import { benchPlan } from "./plan/bench";
import { benchPoints } from "./points/bench";
import { benchPowerLoss } from "./power-loss/bench";
import { benchPrecision } from "./precision/bench";
import { benchPromotions } from "./promotions/bench";
import { benchReclamation } from "./reclamation/bench";
import { benchRecords } from "./records/bench";
import { benchReduction } from "./reduction/bench";
import { benchRematerialise } from "./rematerialise/bench";
import { benchScale } from "./scale/bench";
import { benchSearch } from "./search/bench";
import { benchSequential } from "./sequential/bench";
import { benchSharding } from "./sharding/bench";
import { BadOptionError } from "./support/arguments";
import { benchTabular } from "./tabular/bench";
import { benchTracking } from "./tracking/bench";
import { benchTrain } from "./train/bench";
import { benchTuning } from "./tuning/bench";

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  asof: benchAsOf,
  checkpoint: benchCheckpoint,
  checksums: benchChecksums,
  cloud: benchCloud,
  "cold-start": benchColdStart,
  collective: benchCollective,
  contract: benchContract,
  corruption: benchCorruption,
  data: benchData,
  drift: benchDrift,
  elastic: benchElastic,
  export: benchExport,
  files: benchFiles,
  fuzz: benchFuzz,
  "gpu-check": benchGpuCheck,
  ingest: benchIngest,
  kernels: benchKernels,
  kills: benchKills,
  large: benchLarge,
  models: benchModels,
  tabular: benchTabular,
  tracking: benchTracking,
  online: benchOnline,
  optimizer: benchOptimizer,
  overlap: benchOverlap,
  plan: benchPlan,
  points: benchPoints,
  "power-loss": benchPowerLoss,
  precision: benchPrecision,
  promotions: benchPromotions,
  reclamation: benchReclamation,
  records: benchRecords,
  reduction: benchReduction,
  rematerialise: benchRematerialise,
  scale: benchScale,
  search: benchSearch,
  sequential: benchSequential,
  sharding: benchSharding,
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
