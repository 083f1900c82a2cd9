import type { OperationalMetric } from "../metering/metrics";
import { isOpen, type Phase } from "../runs/run-states";
import type { Run } from "../runs/shapes";

type Level = Extract<OperationalMetric, `Runs${"Queued" | "Preparing" | "Training" | "Concluding"}`>;

const levelOf: Readonly<Record<Phase, Level>> = {
  ValidateDataset: "RunsPreparing",
  PrepareFeatures: "RunsPreparing",
  LaunchTraining: "RunsTraining",
  Evaluate: "RunsConcluding",
  Register: "RunsConcluding",
  Gate: "RunsConcluding",
  AwaitApproval: "RunsConcluding",
  Promote: "RunsConcluding",
};

/**
 * Counts the open runs of each team by state. Teams without open runs are omitted, so that an idle platform writes no
 * metrics.
 */
export function runLevels(runs: readonly Run[]): ReadonlyMap<string, Readonly<Record<Level, number>>> {
  const teams = new Map<string, Record<Level, number>>();
  for (const run of runs) {
    if (!isOpen(run.status)) continue;
    const levels = teams.get(run.team) ?? {
      RunsQueued: 0,
      RunsPreparing: 0,
      RunsTraining: 0,
      RunsConcluding: 0,
    };
    levels[run.phase === undefined ? "RunsQueued" : levelOf[run.phase]] += 1;
    teams.set(run.team, levels);
  }
  return teams;
}
