import { benchSamplers } from "./samplers";
import { benchSchedulers } from "./schedulers";
import { benchStudy } from "./study";

const parts: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  samplers: benchSamplers,
  schedulers: benchSchedulers,
  study: benchStudy,
};

export async function benchTuning([part = "", ...args]: readonly string[]): Promise<void> {
  const run = parts[part];
  if (run === undefined) throw new Error(`the benchmark is one of: ${Object.keys(parts).join(", ")}`);
  await run(args);
}
