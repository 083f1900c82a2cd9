import { formatCount } from "../quantities";
import type { StepDefinition } from "../runs/step";
import type { Warning } from "../shapes";
import { type ValidationOutput, validationKind } from "./contract/report";
import { type AppliedContract, inputsOf } from "./contract/stored";
import { type ColumnProfile, type DatasetProfile, hasTexts, valueLimit } from "./profile";
import { type DatasetRepository, getDatasetVersion } from "./repository";
import { type ColumnSchema, type DatasetManifest, splitNames } from "./shapes";

interface Verdict {
  readonly errors: readonly string[];
  readonly warnings: readonly Warning[];
}

/** Shares above which a warning is given. */
const limits = { duplicates: 0.01, leaked: 0.01, nulls: 0.5, rareClass: 0.001 } as const;

export function judge(manifest: Pick<DatasetManifest, "schema" | "split">, profile: DatasetProfile): Verdict {
  const label = manifest.schema.find(({ role }) => role === "label");
  return {
    errors: [...emptySplits(manifest), ...labelErrors(label, manifest, profile)],
    warnings: [
      ...columnWarnings(manifest.schema, profile),
      ...classWarnings(manifest, profile),
      ...repeatWarnings(profile),
    ],
  };
}

function* emptySplits({ split }: Pick<DatasetManifest, "split">): Generator<string> {
  for (const name of splitNames) {
    if (split.fractions[name] > 0 && split.indexes[name].rows === 0) yield `split ${name} has no rows`;
  }
}

function* labelErrors(
  label: ColumnSchema | undefined,
  { split }: Pick<DatasetManifest, "split">,
  profile: DatasetProfile,
): Generator<string> {
  if (profile.classes === undefined) {
    const values = profile.columns.find(({ name }) => name === label?.name);
    if (values?.std === 0) yield `label ${values.name} is ${values.min} in every row, so a model cannot be trained`;
    return;
  }
  for (const name of splitNames) {
    if (split.indexes[name].rows === 0) continue;
    const present = profile.classes.filter(({ rows }) => rows[name] > 0);
    if (present.length < 2) {
      const only = present.map(({ value }) => JSON.stringify(value)).join("");
      yield `label ${label?.name} has only the class ${only} in split ${name}, but at least 2 are needed`;
    }
  }
}

function* columnWarnings(schema: readonly ColumnSchema[], profile: DatasetProfile): Generator<Warning> {
  for (const { name, role, type } of schema) {
    const column = profile.columns.find((candidate) => candidate.name === name);
    if (column === undefined || role === "ignore") continue;
    if (column.alike !== undefined) yield alikeWarning(column.alike, name, role);
    if (role !== "feature") continue;
    if (column.count === 0) {
      yield { code: "EMPTY_COLUMN", message: `column ${name} has no value in any row; set its role to ignore` };
      continue;
    }
    const missing = column.nulls / profile.rowCount;
    if (missing > limits.nulls) {
      yield { code: "MISSING_VALUES", message: `column ${name} has no value in ${percent(missing)} of the rows` };
    }
    if (column.distinct === 1 || (column.type === "tensor" && column.min === column.max)) {
      const message = `column ${name} has the same value in every row and carries no information; set its role to ignore`;
      yield { code: "CONSTANT_COLUMN", message };
    }
    if (hasTexts(column)) {
      const message = `column ${name} has texts of several words, most of them once, and by default a run learns only whole texts that repeat: a plan with { kind: ngrams, column: ${JSON.stringify(name)}, buckets: 512 } reads them (features.plan of the job)`;
      yield { code: "DIFFERENT_TEXTS", message };
    } else if (type === "string" && (column.distinct ?? 0) > valueLimit) {
      const message = `column ${name} has ${column.distinct} different values: by default a run keeps the ${valueLimit} most frequent and counts the others as one; features.columns of the job chooses top-k or hash`;
      yield { code: "MANY_VALUES", message };
    }
  }
}

function alikeWarning(groups: NonNullable<ColumnProfile["alike"]>, name: string, role: ColumnSchema["role"]): Warning {
  const shown = groups.slice(0, 5).map((group) =>
    group
      .slice(0, 5)
      .map(({ value, count }) => `${JSON.stringify(value)} (${formatCount(count, "row")})`)
      .join(", "),
  );
  const [what, part] = role === "label" ? ["label", "class"] : ["column", "category"];
  const message = `${what} ${name} has values that differ only by case, blanks or a mark at the end, and each is a ${part} of its own: ${shown.join("; ")}${groups.length > shown.length ? "; …" : ""}. Write them alike in the file, and push it again`;
  return { code: "ALIKE_VALUES", message };
}

function* classWarnings(
  { split }: Pick<DatasetManifest, "split">,
  { classes = [], rowCount }: DatasetProfile,
): Generator<Warning> {
  const total = ({ train, validation, test }: (typeof classes)[number]["rows"]): number => train + validation + test;
  const unseen = classes.filter(({ rows }) => rows.train === 0);
  const rare = classes.filter(({ rows }) => rows.train > 0 && total(rows) < limits.rareClass * rowCount);
  if (unseen.length > 0) {
    yield {
      code: "UNSEEN_CLASSES",
      message: `${listed(unseen)} without a row in the training split: the model cannot predict ${unseen.length === 1 ? "it" : "them"}`,
    };
  }
  for (const name of splitNames) {
    if (name === "train" || split.indexes[name].rows === 0) continue;
    const absent = classes.filter(({ rows }) => rows.train > 0 && rows[name] === 0);
    if (absent.length === 0) continue;
    const counts = absent.map(({ rows }) => total(rows));
    const most = Math.max(...counts);
    yield {
      code: `CLASSES_NOT_IN_${name.toUpperCase()}`,
      message: `${listed(absent)} with ${most === 1 ? "1 row" : `at most ${most} rows`} without a row in the ${name} split: its metrics do not cover ${absent.length === 1 ? "it" : "them"}`,
    };
  }
  if (rare.length > 0) {
    yield {
      code: "RARE_CLASSES",
      message: `${listed(rare)} with fewer than ${100 * limits.rareClass} % of the rows: metrics by class are uncertain`,
    };
  }
}

function* repeatWarnings({ duplicateShare, leakedShare }: DatasetProfile): Generator<Warning> {
  if (duplicateShare > limits.duplicates) {
    const message = `${percent(duplicateShare)} of the rows repeat another row in every column; remove the duplicates`;
    yield { code: "DUPLICATE_ROWS", message };
  }
  if (leakedShare > limits.leaked) {
    yield {
      code: "LEAKED_TEST_ROWS",
      message: `${percent(leakedShare)} of the test rows are also in the training split, so test metrics are too optimistic; remove the duplicates`,
    };
  }
}

function listed(classes: NonNullable<DatasetProfile["classes"]>): string {
  const shown = classes.slice(0, 5).map(({ value }) => JSON.stringify(value));
  const more = classes.length > shown.length ? `, … (${classes.length})` : "";
  return `${classes.length === 1 ? "class" : "classes"} ${shown.join(", ")}${more}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** Output of the step `ValidateDataset`. */
/**
 * Validates a version once for all runs under the same data contract. Trusts no claim of a push.
 *
 * @param validate does the I/O
 */
export function validationStep(
  { datasets }: { readonly datasets: DatasetRepository },
  validate: (manifest: DatasetManifest, inputHash: string) => Promise<ValidationOutput>,
  contract?: AppliedContract,
): StepDefinition<ValidationOutput> {
  return {
    ...validationKind,
    version: 1,
    reusable: true,
    inputs: ({ dataset }) => ({
      ...{ name: dataset.name, digest: dataset.digest },
      ...(contract ? { contract: inputsOf(contract) } : {}),
    }),
    async execute({ dataset: { name, version } }, _details, inputHash) {
      const output = await validate((await getDatasetVersion(datasets, name, version)).manifest, inputHash);
      await datasets.recordWarnings(name, version, output.warnings);
      return output;
    },
  };
}
