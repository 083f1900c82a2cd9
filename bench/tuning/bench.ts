import { benchHyperband } from "./hyperband";
import { benchOverhead } from "./overhead";
import { benchSamplers } from "./samplers";
import { benchStudy } from "./study";

const parts: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  hyperband: benchHyperband,
  overhead: benchOverhead,
  samplers: benchSamplers,
  study: benchStudy,
};

/** Compares tuning with Optuna: `npm run bench -- tuning samplers`. */
export async function benchTuning([part = "", ...args]: readonly string[]): Promise<void> {
  const run = parts[part];
  if (run === undefined) throw new Error(`the benchmark is one of: ${Object.keys(parts).join(", ")}`);
  await run(args);
}
