import { describeProblem, InvalidInputError } from "../../core/errors";
import type { Experiments } from "../../core/tracking/experiments";
import { experimentNotFound } from "../../core/tracking/records/errors";
import { SearchSyntaxError } from "../../core/tracking/search/errors";
import type { SearchedRun } from "../../core/tracking/search/query";
import type { Experiment } from "../../core/tracking/shapes";
import { type ComparePorts, compareRuns } from "../compare/compare";
import type { Comparison } from "../compare/comparison";

/** Number of runs that a report can distinguish. */
export const runsOnPage = 50;

export interface ExperimentQuery {
  readonly filter: string;
  /** A field with its direction; empty: newest first. */
  readonly orderBy: string;
  readonly pageToken?: string;
}

export interface ExperimentPage {
  readonly experiment: Experiment;
  readonly query: ExperimentQuery;
  readonly runs: readonly SearchedRun[];
  readonly total: number;
  readonly nextToken?: string;
  /** Comparison of the runs on the page, without curves. */
  readonly comparison?: Comparison;
  readonly problem?: string;
}

export interface ExperimentPagePorts extends ComparePorts {
  readonly experiments: Pick<Experiments, "find">;
}

/** Reads the page's data. The page itself shows an invalid filter's error. @throws EXPERIMENT_NOT_FOUND */
export async function readExperimentPage(
  ports: ExperimentPagePorts,
  experimentId: string,
  query: ExperimentQuery,
): Promise<ExperimentPage> {
  const experiment = await ports.experiments.find(experimentId);
  if (!experiment) throw experimentNotFound({ experimentId });
  try {
    const { runs, total, nextToken } = await ports.runSearch.search({
      experimentIds: [experimentId],
      filter: query.filter,
      orderBy: query.orderBy === "" ? [] : [query.orderBy],
      limit: runsOnPage,
      view: experiment.lifecycle === "deleted" ? "all" : "active",
      pageToken: query.pageToken,
    });
    if (runs.length === 0) return { experiment, query, runs, total };
    const comparison = await compareRuns(ports, {
      runs: runs.map(({ record }) => record.runId),
      metrics: [],
      goals: {},
      axis: "step",
      points: 0,
    });
    return { experiment, query, runs, total, comparison, nextToken };
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return { experiment, query, runs: [], total: 0, problem: problemText(error) };
  }
}

/** Describes the error and its position. */
function problemText(error: InvalidInputError): string {
  const excerpt = error instanceof SearchSyntaxError ? error.details.search.excerpt : undefined;
  const words = error.details.problems.map(describeProblem).join("\n");
  return excerpt === undefined ? words : `${excerpt.line}\n${excerpt.marks}\n${words}`;
}
