import { spawnSync } from "node:child_process";
import path from "node:path";
import {
  type Averages,
  accuracy,
  classMetrics,
  confusionMatrix,
  macroAverage,
  weightedAverage,
} from "../../core/evaluation/classification";
import { metricsOf, predictedClasses, regressionMetrics } from "../../core/evaluation/metrics";
import { rateDifference } from "../../core/evaluation/slices/judge";
import { metricStatistic } from "../../core/evaluation/slices/statistics";
import { seededRandom } from "../support/random";
import {
  type ClassSet,
  classSet,
  type GroupedSet,
  groupedSet,
  type ValueSet,
  valueSet,
  type WeightedSet,
  weightedSet,
} from "./scikit-learn-sets";

type Measured = Readonly<Record<string, number | readonly number[] | undefined>>;
type Reference = Readonly<Record<string, number | readonly number[]>>;

const sets = 1000;
const tolerance = 1e-9;
const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const probe = spawnSync(python, ["-c", "import sklearn; print(sklearn.__version__)"], { encoding: "utf8" });
const title =
  probe.status === 0
    ? `scikit-learn ${probe.stdout.trim()}`
    : `scikit-learn (skipped: ${python} cannot import sklearn; name a Python that can in RINGMASTER_PEERS_PYTHON)`;

const classification = {
  draw: classSet,
  sent: ({ predictions, zeroDivision }: ClassSet) => ({
    classes: predictions.classes,
    labels: [...predictions.labels],
    predicted: [...predictedClasses(predictions)],
    outputs: rowsOf([...predictions.outputs], predictions.classes),
    zeroDivision: String(zeroDivision),
  }),
  measure({ predictions, zeroDivision }: ClassSet): Measured {
    const { classes, labels } = predictions;
    const confusion = confusionMatrix(labels, predictedClasses(predictions), classes);
    const each = classMetrics(confusion, classes, zeroDivision);
    const { auc, prAuc, logLoss } = metricsOf(predictions);
    const named = (name: string, { precision, recall, f1 }: Averages) => ({
      [`precision ${name}`]: precision,
      [`recall ${name}`]: recall,
      [`f1 ${name}`]: f1,
    });
    return {
      accuracy: accuracy(confusion, classes),
      "precision each": each.map(({ precision }) => precision),
      "recall each": each.map(({ recall }) => recall),
      "f1 each": each.map(({ f1 }) => f1),
      ...named("macro", macroAverage(each)),
      ...named("weighted", weightedAverage(each)),
      "log loss": logLoss,
      auc,
      "pr auc": prAuc,
    };
  },
};

const regression = {
  draw: valueSet,
  sent: (set: ValueSet) => set,
  measure: ({ labels, predicted }: ValueSet): Measured => ({ ...regressionMetrics(labels, predicted) }),
};

const weighted = {
  draw: weightedSet,
  sent: ({ predictions, weights }: WeightedSet) => ({
    classes: predictions.classes,
    labels: [...predictions.labels],
    predicted: predictions.classes === 0 ? [] : [...predictedClasses(predictions)],
    outputs:
      predictions.classes === 0 ? [...predictions.outputs] : rowsOf([...predictions.outputs], predictions.classes),
    weights: [...weights],
  }),
  measure({ predictions, weights }: WeightedSet): Measured {
    const rows = Uint32Array.from(weights.keys());
    const averaged = ["precision", "recall", "f1"].flatMap((metric) => [`${metric}Macro`, `${metric}Weighted`]);
    const areas = predictions.classes === 2 ? ["auc", "prAuc"] : [];
    const metrics = predictions.classes === 0 ? ["rmse", "mae", "r2"] : ["accuracy", "logLoss", ...averaged, ...areas];
    const found = metrics.map((metric): [string, number] => {
      const components = new Float64Array(1);
      metricStatistic(metric, predictions)!.of(rows)(weights, components);
      return [metric, components[0]!];
    });
    return Object.fromEntries(found.filter(([metric, value]) => !(areas.includes(metric) && Number.isNaN(value))));
  },
};

const fairness = {
  draw: groupedSet,
  sent: ({ predictions, groups }: GroupedSet) => ({
    classes: predictions.classes,
    labels: [...predictions.labels],
    predicted: [...predictedClasses(predictions)],
    groups: [...groups],
  }),
  measure({ predictions, groups }: GroupedSet): Measured {
    const count = Math.max(...groups) + 1;
    const sliced = {
      predictions,
      classes: Array.from({ length: predictions.classes }, (_, index) => index),
      columns: [{ column: "group", values: Array.from({ length: count }, (_, group) => group), codes: groups }],
    };
    const of = (kind: "demographic-parity" | "equalized-odds"): number => {
      const found = rateDifference(sliced, { column: "group", minRows: 2, seed: 1, kind });
      return "reason" in found ? 0 : found.estimate;
    };
    return { parity: of("demographic-parity"), odds: of("equalized-odds") };
  },
};

function rowsOf(outputs: readonly number[], classes: number): readonly (number | readonly number[])[] {
  if (classes === 2) return outputs;
  return Array.from({ length: outputs.length / classes }, (_, row) =>
    outputs.slice(row * classes, (row + 1) * classes),
  );
}

/** Difference relative to the larger of 1 and the value; NaN equals NaN. */
function distance(ours: Measured[string], theirs: Measured[string]): number {
  if (typeof ours === "number" && typeof theirs === "number") {
    if (Number.isNaN(ours) && Number.isNaN(theirs)) return 0;
    const apart = Math.abs(ours - theirs) / Math.max(1, Math.abs(theirs));
    return Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart;
  }
  if (!Array.isArray(ours) || !Array.isArray(theirs) || ours.length !== theirs.length) return Number.POSITIVE_INFINITY;
  return Math.max(...ours.map((value, at) => distance(value, theirs[at])));
}

function compare<Set>(
  family: string,
  {
    draw,
    sent,
    measure,
  }: { draw: (random: () => number) => Set; sent: (set: Set) => object; measure: (set: Set) => Measured },
  count = sets,
): { readonly far: readonly string[]; readonly counts: Readonly<Record<string, number>> } {
  const random = seededRandom(2026);
  const drawn = Array.from({ length: count }, () => draw(random));
  const { status, stdout, stderr } = spawnSync(python, [path.join(__dirname, "scikit-learn-reference.py")], {
    input: `${JSON.stringify({ family, sets: drawn.map(sent) })}\n`,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(stderr);
  // Python writes NaN as such, which is no JSON.
  const references = (JSON.parse(stdout.replaceAll("NaN", '"NaN"')) as Record<string, unknown>[]).map(numbersOf);
  const counts: Record<string, number> = {};
  const far: string[] = [];
  for (const [at, set] of drawn.entries()) {
    const ours = measure(set);
    const theirs = references[at]!;
    const names = new Set([...Object.keys(ours).filter((name) => ours[name] !== undefined), ...Object.keys(theirs)]);
    for (const name of names) {
      counts[name] = (counts[name] ?? 0) + 1;
      if (distance(ours[name], theirs[name]) > tolerance)
        far.push(`set ${at}, ${name}: ${JSON.stringify(ours[name])}, scikit-learn ${JSON.stringify(theirs[name])}`);
    }
  }
  return { far, counts };
}

function numbersOf(answer: Record<string, unknown>): Reference {
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? value.map(Number) : Number(value)]),
  );
}

(probe.status === 0 ? describe : describe.skip)(title, () => {
  it("agrees on classes, of which metrics are there too", () => {
    const { far, counts } = compare("classification", classification);
    expect(far).toEqual([]);
    expect(counts).toMatchObject({ accuracy: sets, "f1 macro": sets, "log loss": sets });
    expect(Math.min(counts["auc"]!, counts["pr auc"]!)).toBeGreaterThan(sets / 2);
  }, 600_000);

  it("agrees on values", () => {
    const { far, counts } = compare("regression", regression);
    expect(far).toEqual([]);
    expect(counts).toMatchObject({ rmse: sets, mae: sets });
    expect(counts["r2"]).toBeGreaterThan(sets * 0.9);
  }, 600_000);

  it("agrees on metrics of weighted rows", () => {
    const { far, counts } = compare("weighted", weighted);
    expect(far).toEqual([]);
    expect(Math.min(counts["accuracy"]!, counts["f1Macro"]!, counts["logLoss"]!)).toBeGreaterThan(sets / 2);
    expect(Math.min(counts["auc"]!, counts["r2"]!)).toBeGreaterThan(sets / 5);
  }, 600_000);

  it("agrees on differences of rates between groups", () => {
    // Each is resampled for its interval, too: fewer are enough.
    const { far, counts } = compare("fairness", fairness, sets / 10);
    expect(far).toEqual([]);
    expect(counts).toEqual({ parity: sets / 10, odds: sets / 10 });
  }, 600_000);
});
