import { RunNotFoundError } from "../training/errors";
import type { MetricRepository } from "./metric-repository";

/** A team's port to metrics: those of its own runs. @throws RunNotFoundError for any other run. */
export function teamMetrics(all: MetricRepository, owns: (runId: string) => Promise<boolean>): MetricRepository {
  const insist = async (runId: string): Promise<void> => {
    if (!(await owns(runId))) throw new RunNotFoundError(runId);
  };
  return {
    async write(runId, series) {
      await insist(runId);
      await all.write(runId, series);
    },
    async read(runId, metric) {
      await insist(runId);
      return all.read(runId, metric);
    },
    async readAfter(runId, metric, position) {
      await insist(runId);
      return all.readAfter(runId, metric, position);
    },
    async summaries(runId) {
      await insist(runId);
      return all.summaries(runId);
    },
  };
}
