import { type ColumnSchema, type DatasetManifest, splitNames } from "./manifest";
import type { DatasetProfile } from "./profile";

export interface Verdict {
  /** Why the version cannot be trained on. */
  readonly errors: readonly string[];
  /** What a person should know; the run goes on. */
  readonly warnings: readonly string[];
}

/** Shares above which a person is told. */
const limits = { duplicates: 0.01, leaked: 0.01, nulls: 0.5, rareClass: 0.001 } as const;

/** Judges a version by its statistics. The rows have kept the schema's rules; this is about what can be learnt from them. */
export function judge(manifest: Pick<DatasetManifest, "schema" | "split">, profile: DatasetProfile): Verdict {
  const label = manifest.schema.find(({ role }) => role === "label");
  return {
    errors: [...emptySplits(manifest), ...labelErrors(label, manifest, profile)],
    warnings: [
      ...columnWarnings(manifest.schema, profile),
      ...classWarnings(profile),
      ...share(profile.duplicateShare, limits.duplicates, "of the rows are duplicates of others"),
      ...share(
        profile.leakedShare,
        limits.leaked,
        "of the test rows are in the training split too: its metrics flatter",
      ),
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
    if (values?.std === 0) yield `label ${values.name} is ${values.min} in every row, so there is nothing to learn`;
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

function* columnWarnings(schema: readonly ColumnSchema[], profile: DatasetProfile): Generator<string> {
  for (const { name, role } of schema) {
    const column = profile.columns.find((candidate) => candidate.name === name);
    if (column === undefined || role !== "feature") continue;
    if (column.count === 0) yield `column ${name} has no value in any row`;
    else {
      yield* share(column.nulls / profile.rowCount, limits.nulls, `of the rows lack column ${name}`);
      if (column.distinct === 1 || (column.type === "tensor" && column.min === column.max)) {
        yield `column ${name} has one value only and says nothing`;
      }
    }
  }
}

function* classWarnings({ classes = [], rowCount }: DatasetProfile): Generator<string> {
  const total = ({ train, validation, test }: (typeof classes)[number]["rows"]): number => train + validation + test;
  const unseen = classes.filter(({ rows }) => rows.train === 0);
  const rare = classes.filter(({ rows }) => rows.train > 0 && total(rows) < limits.rareClass * rowCount);
  if (unseen.length > 0) yield `not in the training split, so never predicted: ${listed(unseen)}`;
  if (rare.length > 0)
    yield `fewer than ${100 * limits.rareClass} % of the rows, so of uncertain metrics: ${listed(rare)}`;
}

function listed(classes: NonNullable<DatasetProfile["classes"]>): string {
  const shown = classes.slice(0, 5).map(({ value }) => JSON.stringify(value));
  const more = classes.length > shown.length ? `, … (${classes.length})` : "";
  return `${classes.length === 1 ? "class" : "classes"} ${shown.join(", ")}${more}`;
}

function* share(value: number, limit: number, what: string): Generator<string> {
  if (value > limit) yield `${(100 * value).toFixed(1)} % ${what}`;
}
