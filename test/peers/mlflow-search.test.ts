import { spawnSync } from "node:child_process";
import path from "node:path";
import { parseExperimentFilter, parseExperimentOrder } from "../../api/mlflow/search/experiments";
import {
  parseModelFilter,
  parseModelOrder,
  parseModelVersionFilter,
  parseModelVersionOrder,
} from "../../api/mlflow/search/registered-models";
import { mlflowRuns } from "../../api/mlflow/search/runs";
import { SearchSyntaxError } from "../../core/tracking/search/errors";
import { datasetOf, found, runOf, testRun } from "../core/tracking/search/runs";
import {
  experimentSearches,
  experiments,
  modelSearches,
  models,
  runSearches,
  runs,
  type Search,
  versionSearches,
} from "./mlflow-searches";

type Answer = { readonly found: readonly string[] } | { readonly refused: string } | { readonly broken: string };

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import mlflow.version as v; print(v.VERSION)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `MLflow ${probe.stdout.trim()}`
    : `MLflow (skipped: ${python} cannot import mlflow; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

const all = [...runSearches, ...experimentSearches, ...modelSearches, ...versionSearches];

(probe.status === 0 ? describe : describe.skip)(`searches of ${title}'s SQLite store`, () => {
  let answers: readonly Answer[] = [];
  let experimentIds: Readonly<Record<string, string>> = {};
  beforeAll(() => {
    const script = path.join(__dirname, "mlflow-search-reference.py");
    const input = JSON.stringify({ runs, experiments, models, searches: all });
    const result = spawnSync(python, [script], { input, encoding: "utf8", maxBuffer: 1 << 26 });
    if (result.status !== 0) throw new Error(result.stderr);
    ({ answers, experimentIds } = JSON.parse(result.stdout));
  }, 120_000);

  it("find what ours find, in the same order, and are refused where ours are", () => {
    const differences = all.flatMap((search, index) => {
      const theirs = answers[index]!;
      const ours = answer(search);
      return same(search, theirs, ours) ? [] : [{ ...search, theirs, ours }];
    });
    expect(differences).toEqual([]);
  });

  function answer(search: Search): Answer {
    try {
      return { found: search.what === "runs" ? runsFound(search) : entitiesFound(search) };
    } catch (error) {
      if (error instanceof SearchSyntaxError) return { refused: error.message };
      throw error;
    }
  }

  function entitiesFound({ what, filter, orderBy }: Search): readonly string[] {
    const at = (time: number) => ({ createdAt: new Date(time).toISOString(), updatedAt: new Date(time).toISOString() });
    if (what === "experiments") {
      const known = [{ name: "Default", tags: {} }, ...experiments].map(({ name, tags }, index) => ({
        name,
        tags,
        experimentId: experimentIds[name]!,
        ...at(index + 1),
      }));
      const order = parseExperimentOrder(orderBy);
      return known
        .filter(parseExperimentFilter(filter))
        .sort(order)
        .map(({ name }) => name);
    }
    if (what === "models") {
      const known = models.map(({ name, tags }, index) => ({ name, tags, ...at(index) }));
      return known
        .filter(parseModelFilter(filter))
        .sort(parseModelOrder(orderBy))
        .map(({ name }) => name);
    }
    const known = models.flatMap(({ name, versions }) =>
      versions.map((version, index) => ({ model: name, version: index + 1, ...at(0), ...version })),
    );
    const order = parseModelVersionOrder(orderBy);
    return known
      .filter(parseModelVersionFilter(filter))
      .sort(order)
      .map((one) => `${one.model}/${one.version}`);
  }
});

/** Searches that ours reads differently: blanks and signs that MLflow's SQL parser treats specially. */
const meantToDiffer: Readonly<Record<string, "found" | "refused">> = {
  "metrics.loss > 1e+3": "found",
  "metrics. loss > 0": "refused",
};

function same({ filter, orderBy }: Search, theirs: Answer, ours: Answer): boolean {
  const meant = meantToDiffer[orderBy[0] ?? filter];
  if (meant !== undefined) return meant in ours && !(meant in theirs);
  // Requests that break MLflow's server or its database are refused here.
  if (!("found" in theirs)) return "refused" in ours;
  return "found" in ours && JSON.stringify(theirs.found) === JSON.stringify(ours.found);
}

function runsFound({ filter, orderBy }: Search): readonly string[] {
  const statuses = { RUNNING: "running", FINISHED: "completed", FAILED: "failed", KILLED: "killed" } as const;
  const known = runs.map((run) =>
    testRun(
      runOf(run.id, {
        name: run.name,
        status: statuses[run.status],
        createdBy: run.user,
        startedAt: run.start,
        ...(run.status === "RUNNING" ? {} : { endedAt: run.end }),
        params: run.params,
        tags: run.tags,
        datasets: run.datasets.map(({ name, digest, context }) =>
          datasetOf(name, { digest, tags: { "mlflow.data.context": context } }),
        ),
      }),
      Object.fromEntries(Object.entries(run.metrics).map(([name, value]) => [name, Number(value)])),
    ),
  );
  return found(known, { filter, orderBy, language: mlflowRuns });
}
