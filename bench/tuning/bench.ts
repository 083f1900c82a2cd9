import { benchHyperband } from "./hyperband";

const parts: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  hyperband: benchHyperband,
};

/** Compares tuning with Optuna: `npm run bench -- tuning hyperband`. */
export async function benchTuning([part = "", ...args]: readonly string[]): Promise<void> {
  const run = parts[part];
  if (run === undefined) throw new Error(`the benchmark is one of: ${Object.keys(parts).join(", ")}`);
  await run(args);
}
