import { list, parseOptions } from "../support/arguments";
import { requirePeerScript } from "../support/peer-python";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { lateBadTrials, problems } from "./stopping-problems";

interface Peer {
  readonly version: string;
  /** By sampler, by problem: the mean number of bad trials in the second half of a study. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Counts the bad trials that samplers suggest under a scheduler which stops them, next to Optuna. */
export async function benchSchedulers(args: readonly string[]): Promise<void> {
  const { json, ...values } = parseOptions(args, {
    ...{ trials: 60, epochs: 27, seeds: 20, parallel: 1, noPeer: false },
    ...{ samplers: "tpe,auto", peerSamplers: "tpe", schedulers: "asha,hyperband" },
  });
  const report = startReport(json);
  const seeds = Array.from({ length: values.seeds }, (_, seed) => seed);
  const results = list(values.schedulers).map((scheduler) => {
    const own = list(values.samplers).map((sampler) => {
      const counts = Object.entries(problems).map(([name, problem]) => {
        const bad = seeds.map((seed) => lateBadTrials(problem, { ...values, sampler, scheduler, seed }));
        return [name, bad.reduce((sum, count) => sum + count, 0) / seeds.length];
      });
      return [`Ringmaster, ${sampler}`, Object.fromEntries(counts)] as const;
    });
    const task = { ...values, problems, samplers: list(values.peerSamplers), scheduler, seeds };
    const peer = values.noPeer ? undefined : requirePeerScript<Peer>("tuning/schedulers.py", [], task);
    const theirs = Object.entries(peer?.counts ?? {});
    const named = theirs.map(([sampler, counts]) => [`Optuna ${peer?.version}, ${sampler}`, counts] as const);
    return { scheduler, counts: Object.fromEntries([...own, ...named]) as Peer["counts"] };
  });
  const tables = results.flatMap(({ scheduler, counts }) => {
    const rows = Object.keys(problems).map((name) => [name, ...Object.values(counts).map((one) => one[name]!)]);
    const sums = Object.values(counts).map((one) => Object.keys(problems).reduce((sum, name) => sum + one[name]!, 0));
    const cells = [...rows, ["sum", ...sums]].map((row) =>
      row.map((cell) => (typeof cell === "number" ? cell.toFixed(1) : cell)),
    );
    return ["", markdownTable([scheduler, ...Object.keys(counts)], cells)];
  });
  const half = `bad trials of the last ${values.trials / 2} of ${values.trials}, ${seeds.length} seeds`;
  report({ ...values, results }, half, ...tables);
}
