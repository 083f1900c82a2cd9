import * as z from "zod";
import { InvalidInputError, type Problem } from "../../errors";
import { ageMs } from "../../quantities";
import { timeOf as parseTime } from "../../row-values";
import type { Shape } from "../../shapes";
import { parseYamlInput } from "../../yaml-input";
import type { Finding } from "../schema";
import { columnSchema, datasetName } from "../shapes";
import { expressionProblem } from "./expression";

/** Largest contract as JSON. It allows for some rules for each of a thousand columns; its row holds 400 KiB. */
export const maxContractBytes = 300_000;
/** The shortest rule has about 40 bytes. */
const maxRules = maxContractBytes / 40;

const column = z.string().min(1).max(255);
const bound = z.union([z.number(), z.string().max(40)]);
const share = z.number().min(0).lt(1);

const common = {
  name: z.string().min(1).max(100).optional().meta({ description: "A name of your own, for reports." }),
  severity: z
    .enum(["block", "warn"])
    .default("block")
    .meta({ description: "`block`: a version that breaks the rule is refused. `warn`: it gets a warning." }),
};
const tolerance = share.default(0).meta({ description: "Share of the rows that may break the rule." });

/** Rules by kind. A missing value breaks only `notNull`. */
const rules = [
  z.strictObject({ rule: z.literal("type"), column, ...common, type: columnSchema.shape.type }),
  z.strictObject({ rule: z.literal("notNull"), column, ...common, tolerance }),
  z.strictObject({
    ...{ rule: z.literal("range"), column, ...common, tolerance },
    minimum: bound.optional().meta({ description: "A number; for a timestamp a time, ISO 8601." }),
    maximum: bound.optional(),
  }),
  z.strictObject({
    ...{ rule: z.literal("length"), column, ...common, tolerance },
    minimum: z.int().min(0).optional(),
    maximum: z.int().min(0).optional(),
  }),
  z.strictObject({
    ...{ rule: z.literal("values"), column, ...common, tolerance },
    values: z
      .array(z.union([z.string().max(1_000), z.number(), z.boolean()]))
      .min(1)
      .max(1_000),
  }),
  z.strictObject({
    ...{ rule: z.literal("pattern"), column, ...common, tolerance },
    pattern: z.string().min(1).max(1_000).meta({ description: "RE2 regular expression for the whole text." }),
  }),
  z.strictObject({
    ...{ rule: z.literal("unique"), ...common },
    columns: z.array(column).min(1).max(20).meta({ description: "Columns whose values together occur once." }),
  }),
  z.strictObject({
    ...{ rule: z.literal("rowCount"), ...common },
    minimum: z.int().min(0).optional(),
    maximum: z.int().min(0).optional(),
  }),
  z.strictObject({
    ...{ rule: z.literal("freshness"), column, ...common },
    maxAge: z.string().max(20).meta({ description: "Largest age of the newest timestamp: 90m, 36h, 7d or 2w." }),
  }),
  z.strictObject({
    ...{ rule: z.literal("expression"), ...common, tolerance },
    expression: z.string().min(1).max(2_000).meta({ description: "SQL that is true for a valid row." }),
  }),
  z.strictObject({
    ...{ rule: z.literal("reference"), column, ...common, tolerance },
    references: z
      .strictObject({ dataset: datasetName, version: z.int().min(1).optional(), column })
      .meta({ description: "The values exist there. Without a version: in the newest one that is not deprecated." }),
  }),
  z.strictObject({
    ...{ rule: z.literal("statistic"), column, ...common },
    statistic: z.enum(["mean", "std", "quantile", "nullShare", "distinct"]),
    probability: z.number().min(0).max(1).optional().meta({ description: "Probability of the quantile." }),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  }),
  z.strictObject({
    ...{ rule: z.literal("drift"), column, ...common },
    baseline: z.union([z.int().min(1), z.literal("previous")]).meta({ description: "A version of the dataset." }),
    measure: z.enum(["psi", "kl", "js", "distance", "wasserstein"]).default("psi"),
    maximum: z.number().min(0),
  }),
] as const;

const dataContractRule = z.discriminatedUnion("rule", rules).meta({
  description: "A rule for the rows of a dataset's versions.",
});
export type DataContractRule = Shape<typeof dataContractRule>;
export type RuleOf<Kind extends DataContractRule["rule"]> = Extract<DataContractRule, { readonly rule: Kind }>;

export const dataContract = z
  .strictObject({ rules: z.array(dataContractRule).max(maxRules) })
  .superRefine((contract, context) => {
    for (const { path, value, rule } of problemsIn(contract.rules)) {
      context.addIssue({ code: "custom", path: ["rules", ...path], input: value, message: rule });
    }
  })
  .meta({ description: "Rules for the rows of each version of a dataset." });
export interface DataContract extends Shape<typeof dataContract> {}

/**
 * Parses a contract file.
 *
 * @throws InvalidInputError with every problem
 */
export function parseDataContract(text: string, fileName = "contract.yaml"): DataContract {
  const { value } = parseYamlInput(fileName, text, dataContract);
  assertContractFits(value, fileName);
  return value;
}

/** @throws InvalidInputError if the contract has too many bytes for its row */
export function assertContractFits(contract: DataContract, what: string): void {
  const bytes = contractBytes(contract);
  if (bytes <= maxContractBytes) return;
  const rule = `must have at most ${maxContractBytes} bytes as JSON, not ${bytes}; shorten the lists of values`;
  throw new InvalidInputError(`${what} is too large`, [{ path: "rules", rule } satisfies Problem]);
}

/** Returns the size of a contract or a rule as JSON, in bytes. */
export const contractBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

function* problemsIn(all: readonly DataContractRule[]): Generator<Finding> {
  const names = new Map<string, number>();
  for (const [index, rule] of all.entries()) {
    const { name } = rule;
    if (name !== undefined) {
      const earlier = names.get(name);
      if (earlier !== undefined) {
        yield { path: [index, "name"], value: name, rule: `must differ from the name of rules[${earlier}]` };
      }
      names.set(name, earlier ?? index);
    }
    for (const { path, value, rule: text } of problemsOfRule(rule)) yield { path: [index, ...path], value, rule: text };
  }
}

function* problemsOfRule(rule: DataContractRule): Generator<Finding> {
  if ("minimum" in rule || rule.rule === "range" || rule.rule === "length" || rule.rule === "rowCount") {
    yield* boundProblems(rule as { readonly minimum?: number | string; readonly maximum?: number | string });
  }
  switch (rule.rule) {
    case "statistic":
      if (rule.minimum === undefined && rule.maximum === undefined)
        yield { path: [], rule: "must have a minimum or a maximum" };
      if ((rule.statistic === "quantile") !== (rule.probability !== undefined)) {
        yield {
          path: ["probability"],
          value: rule.probability,
          rule: rule.statistic === "quantile" ? "is required for a quantile" : "must be left out: it is of a quantile",
        };
      }
      return;
    case "values":
      if (new Set(rule.values.map((value) => typeof value)).size > 1)
        yield { path: ["values"], value: rule.values, rule: "must all be of one type" };
      return;
    case "pattern": {
      const problem = patternProblem(rule.pattern);
      if (problem !== undefined) yield { path: ["pattern"], value: rule.pattern, rule: problem };
      return;
    }
    case "freshness":
      if (ageMs(rule.maxAge) === undefined)
        yield { path: ["maxAge"], value: rule.maxAge, rule: "must be a whole number with m, h, d or w, e.g. 36h" };
      return;
    case "unique":
      if (new Set(rule.columns).size < rule.columns.length)
        yield { path: ["columns"], value: rule.columns, rule: "must name each column once" };
      return;
    case "expression": {
      const problem = expressionProblem(rule.expression);
      if (problem !== undefined) yield { path: ["expression"], value: rule.expression, rule: problem };
      return;
    }
  }
}

function* boundProblems(rule: {
  readonly minimum?: number | string | undefined;
  readonly maximum?: number | string | undefined;
}): Generator<Finding> {
  const { minimum, maximum } = rule;
  const bounds = [minimum, maximum].filter((value) => value !== undefined);
  if (bounds.length === 0) yield { path: [], rule: "must have a minimum or a maximum" };
  for (const [key, value] of Object.entries({ minimum, maximum })) {
    if (typeof value === "string" && timeOf(value) === undefined)
      yield {
        path: [key],
        value,
        rule: "must be a number, or a time in ISO 8601 such as 2026-01-31 or 2026-01-31T12:00:00Z",
      };
  }
  if (bounds.length < 2) return;
  if (typeof minimum !== typeof maximum)
    yield { path: ["maximum"], value: maximum, rule: "must be of the minimum's type" };
  else if (comparable(minimum!) > comparable(maximum!))
    yield { path: ["minimum"], value: minimum, rule: `must be at most the maximum, ${maximum}` };
}

const comparable = (value: number | string): number => (typeof value === "string" ? (timeOf(value) ?? 0) : value);

/** Returns the milliseconds of a time in ISO 8601; without an offset it is UTC. `undefined`: it is none. */
export function timeOf(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)) return undefined;
  const time = parseTime(text);
  return Number.isNaN(time) ? undefined : time;
}

/** RE2 runs in linear time, and therefore lacks assertions about the surroundings and references to groups. */
function patternProblem(pattern: string): string | undefined {
  if (/\(\?<?[=!]/.test(pattern)) return "must have no look-ahead and no look-behind, which RE2 lacks";
  if (/(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)/.test(pattern)) return "must have no reference to a group, which RE2 lacks";
  try {
    new RegExp(pattern.replace(/^\(\?[ims]+\)/, ""), "u");
    return undefined;
  } catch (error) {
    return `must be a regular expression (${(error as Error).message.replace(/^Invalid regular expression: /, "")})`;
  }
}
