import * as z from "zod";
import { InvalidInputError, type Problem } from "../errors";
import { parseYamlInput } from "../yaml-input";
import { numberFormatProblem } from "./number-format";
import { formatProblem, maxDimensions, missingTokens } from "./rules";
import { type ColumnSchema, columnOrigin, type SplitName } from "./shapes";

/**
 * Any name is accepted, because names are quoted wherever they are used. Exceptions: leading or trailing blanks, which
 * a CSV header cannot show, and the name of an object's prototype.
 */
const columnName = z
  .string()
  .regex(
    /^(?!\s)[^\p{Cc}\p{Cs}]{1,128}(?<!\s)$/u,
    "must be 1–128 characters, none a control character, and no blank at its ends",
  )
  .refine((name) => name !== "__proto__", "must not be __proto__, which JavaScript keeps for itself");

const column = z.strictObject({
  name: columnName,
  type: z.enum(["int", "float", "string", "bool", "timestamp", "tensor"]),
  role: z.enum(["feature", "label", "slice", "ignore"]).default("feature"),
  shape: z.array(z.int().min(1).max(65_536)).min(1).max(maxDimensions).optional(),
  nullable: z.boolean().optional(),
  values: z
    .array(z.union([z.string(), z.number()]))
    .min(1)
    .max(1_000)
    .optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  /** Default: the file's tokens. */
  missing: missingTokens.optional(),
  /** Format of a timestamp's text, as in DuckDB's `strptime` (default: ISO 8601), or of a number's: `1.234,5`. */
  format: z.string().min(2).max(100).optional(),
  /** The feature of a feature view that the column holds. `views join` writes it into Parquet. */
  from: columnOrigin.optional(),
});

const fraction = z.number().min(0).max(1);

const datasetSchemaFile = z
  .strictObject({
    columns: z.array(column).min(1).max(10_000),
    /** Texts that mean a missing value, in every column. */
    missing: missingTokens.default([]),
    split: z
      .strictObject({
        seed: z.int().min(0).max(4_294_967_295).default(0),
        fractions: z
          .strictObject({ train: fraction, validation: fraction, test: fraction })
          .default({ train: 0.8, validation: 0.1, test: 0.1 }),
        /** Default: the label, if it has classes. `null`: no column. */
        stratifyBy: z.string().nullable().optional(),
        /** `group`: all rows with one value of `column` are in one split. `time`: the splits follow each other. */
        by: z.enum(["group", "time"]).optional(),
        column: z.string().optional(),
      })
      .prefault({}),
  })
  .superRefine(({ columns, split }, context) => {
    for (const { path, value, rule } of [...columnProblems(columns), ...splitProblems(columns, split)]) {
      context.addIssue({ code: "custom", path: [...path], input: value, message: rule });
    }
  });

export interface DatasetSchema {
  readonly columns: readonly ColumnSchema[];
  readonly split: {
    readonly seed: number;
    readonly fractions: Readonly<Record<SplitName, number>>;
    readonly stratifyBy?: string;
    readonly by?: "group" | "time";
    readonly column?: string;
  };
}

/**
 * Parses a schema file.
 *
 * @throws InvalidInputError with every problem
 */
export function parseDatasetSchema(text: string, fileName = "schema.yaml"): DatasetSchema {
  const { columns: written, missing, split } = parseYamlInput(fileName, text, datasetSchemaFile).value;
  const columns = written.map((column) => withTokens(column, missing));
  const { stratifyBy, ...rest } = split;
  const label = columns.find(({ role }) => role === "label");
  const byLabel = stratifyBy === undefined && split.by === undefined;
  const column = byLabel && label && groupable.includes(label.type) ? label.name : stratifyBy;
  return { columns, split: column ? { ...rest, stratifyBy: column } : rest };
}

/** Gives a column the file's tokens unless it has its own. A tensor has none. */
function withTokens({ missing: ofColumn, ...rest }: z.output<typeof column>, ofFile: readonly string[]): ColumnSchema {
  const missing = ofColumn ?? (rest.type === "tensor" ? [] : ofFile);
  return missing.length === 0 ? rest : { ...rest, missing: [...missing] };
}

export function assertDatasetSchema(schema: DatasetSchema, what: string): void {
  const findings = [...columnProblems(schema.columns), ...splitProblems(schema.columns, schema.split)];
  const problems = findings.map(({ path, value, rule }): Problem => ({ path: path.join("."), value, rule }));
  if (problems.length > 0) throw new InvalidInputError(what, problems);
}

function formatRule(type: ColumnSchema["type"], format: string): string | undefined {
  if (type === "timestamp") return formatProblem(format);
  if (orderedTypes.includes(type)) return numberFormatProblem(format);
  return `must be left out: a ${type} column has no format, only a timestamp and a number`;
}

export interface Finding {
  readonly path: readonly (string | number)[];
  readonly value?: unknown;
  readonly rule: string;
}

const orderedTypes: readonly string[] = ["int", "float"];
/** Types with few distinct values, by which rows can be grouped. */
const groupable: readonly string[] = ["int", "string", "bool"];

/** Checks each column, and the rules between columns: unique names, one label, at least one feature. */
function* columnProblems(columns: readonly ColumnSchema[]): Generator<Finding> {
  const seen = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const at = (key: string) => ["columns", index, key];
    // Databases fold case, so columns whose names differ only by case cannot be in one table.
    const earlier = seen.get(column.name.toLowerCase());
    if (earlier !== undefined) {
      yield {
        path: at("name"),
        value: column.name,
        rule: `must differ from the name of columns[${earlier}] (names are not case-sensitive)`,
      };
    }
    seen.set(column.name.toLowerCase(), earlier ?? index);
    yield* problemsOfColumn(column, at);
  }
  const labels = columns.filter((column) => column.role === "label");
  if (labels.length !== 1) {
    yield {
      path: ["columns"],
      rule: `must have exactly one column of role label, and ${labels.length === 0 ? "none has it" : `${labels.map(({ name }) => name).join(", ")} have it`}`,
    };
  }
  if (!columns.some((column) => column.role === "feature")) {
    yield { path: ["columns"], rule: "must have at least one column of role feature" };
  }
}

/** Checks the fields of one column against each other. `at` returns the path of a field. */
function* problemsOfColumn(column: ColumnSchema, at: (key: string) => Finding["path"]): Generator<Finding> {
  if (column.type === "tensor" && column.shape === undefined) {
    yield { path: at("shape"), rule: "is required for a tensor, e.g. [28, 28, 1]" };
  }
  if (column.type !== "tensor" && column.shape !== undefined) {
    yield {
      path: at("shape"),
      value: column.shape,
      rule: `must be left out: the column's type is ${column.type}, not tensor`,
    };
  }
  if (column.from !== undefined && (column.role === "label" || column.type === "tensor")) {
    const rule = `must be left out: ${column.role === "label" ? "the label" : "a tensor"} is no feature of a view`;
    yield { path: at("from"), value: column.from.view, rule };
  }
  if (column.role === "label") {
    if (column.nullable)
      yield { path: at("nullable"), value: true, rule: "must be false for the label: every row needs a label" };
    if (column.type === "tensor" || column.type === "timestamp") {
      yield {
        path: at("type"),
        value: column.type,
        rule: "must be int, string or bool (classification) or float (regression) for the label",
      };
    }
  }
  if (column.role === "slice" && !groupable.includes(column.type)) {
    yield {
      path: at("type"),
      value: column.type,
      rule: "must be int, string or bool for a slice: metrics are computed for each of its values",
    };
  }
  for (const bound of ["minimum", "maximum"] as const) {
    if (column[bound] !== undefined && !orderedTypes.includes(column.type) && column.type !== "tensor") {
      yield {
        path: at(bound),
        value: column[bound],
        rule: `must be left out: a ${column.type} column cannot have bounds`,
      };
    }
  }
  if (column.minimum !== undefined && column.maximum !== undefined && column.minimum > column.maximum) {
    yield { path: at("minimum"), value: column.minimum, rule: `must be at most the maximum, ${column.maximum}` };
  }
  if (column.format !== undefined) {
    const rule = formatRule(column.type, column.format);
    if (rule !== undefined) yield { path: at("format"), value: column.format, rule };
  }
  if (column.type === "tensor" && column.missing !== undefined && column.missing.length > 0) {
    yield { path: at("missing"), value: column.missing, rule: "must be left out: a tensor has no missing tokens" };
  }
  if (column.values !== undefined) {
    const type = column.type === "string" ? "string" : "number";
    if (column.type !== "string" && !orderedTypes.includes(column.type)) {
      yield {
        path: at("values"),
        value: column.values,
        rule: `must be left out: a ${column.type} column cannot have a set of values`,
      };
    } else if (column.values.some((value) => typeof value !== type)) {
      yield {
        path: at("values"),
        value: column.values,
        rule: `must all be ${type}s: the column's type is ${column.type}`,
      };
    }
  }
}

function* splitProblems(
  columns: readonly ColumnSchema[],
  split: Pick<DatasetSchema["split"], "fractions" | "by" | "column"> & { readonly stratifyBy?: string | null },
): Generator<Finding> {
  const { train, validation, test } = split.fractions;
  const sum = train + validation + test;
  if (Math.abs(sum - 1) > 1e-9) {
    yield { path: ["split", "fractions"], value: split.fractions, rule: `must add up to 1, not ${sum}` };
  }
  if (train <= 0)
    yield {
      path: ["split", "fractions", "train"],
      value: train,
      rule: "must be greater than 0: training needs rows",
    };
  if (test <= 0)
    yield {
      path: ["split", "fractions", "test"],
      value: test,
      rule: "must be greater than 0: evaluation needs rows",
    };
  yield* wholeSplitProblems(columns, split);
  if (split.stratifyBy) {
    const column = columns.find(({ name }) => name === split.stratifyBy);
    const path = ["split", "stratifyBy"];
    if (column === undefined) yield { path, value: split.stratifyBy, rule: "must name a column" };
    else if (!groupable.includes(column.type)) {
      yield {
        path,
        value: split.stratifyBy,
        rule: `must name an int, string or bool column, but its type is ${column.type}`,
      };
    }
  }
}

/** Types that order rows. */
const timeTypes: readonly string[] = ["timestamp", "int", "float"];

function* wholeSplitProblems(
  columns: readonly ColumnSchema[],
  { by, column: name, stratifyBy }: Parameters<typeof splitProblems>[1],
): Generator<Finding> {
  const path = ["split", "column"];
  if (by === undefined) {
    if (name !== undefined) yield { path, value: name, rule: "must be left out without split.by: group or time" };
    return;
  }
  if (stratifyBy) {
    yield { path: ["split", "stratifyBy"], value: stratifyBy, rule: `must be left out where the split is by ${by}` };
  }
  const column = columns.find((candidate) => candidate.name === name);
  const types = by === "group" ? groupable : timeTypes;
  if (name === undefined) yield { path, rule: `is required where the split is by ${by}` };
  else if (column === undefined) yield { path, value: name, rule: "must name a column" };
  else if (!types.includes(column.type)) {
    const rule = `must name a column of type ${types.join(", ")} where the split is by ${by}, but its type is ${column.type}`;
    yield { path, value: name, rule };
  } else if (by === "time" && column.nullable) {
    yield { path, value: name, rule: "must name a column that is not nullable: a row without a time has no split" };
  }
}
