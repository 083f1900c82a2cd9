import { Document, visit } from "yaml";
import type { DataContract, DataContractRule } from "../../core/datasets/contract/rules";
import type { ColumnProfile } from "../../core/datasets/profile";
import { isNullable } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";

/** Fewer rows may be unique by chance. */
const minUniqueRows = 100;

type Written = { readonly rule: DataContractRule["rule"] } & Readonly<Record<string, unknown>>;

/**
 * Suggests a contract that a version satisfies. What its schema says blocks. What one version only shows (ranges, sets,
 * means, the number of rows) has a margin and warns.
 */
export function inferContract(
  schema: readonly ColumnSchema[],
  profiles: readonly ColumnProfile[],
  rowCount: number,
): DataContract {
  const rules: Written[] = [warn({ rule: "rowCount", minimum: Math.ceil(rowCount / 2) })];
  for (const column of schema) {
    const profile = profiles.find(({ name }) => name === column.name);
    rules.push({ rule: "type", column: column.name, type: column.type, severity: "block" });
    if (profile) rules.push(...columnRules(column, profile, rowCount));
  }
  return { rules: rules as unknown as readonly DataContractRule[] };
}

const warn = (rule: Written): Written => ({ ...rule, severity: "warn" });

function columnRules(schema: ColumnSchema, profile: ColumnProfile, rowCount: number): readonly Written[] {
  const { name: column, type } = schema;
  const { nulls, distinct, top = [], min, max, mean, std } = profile;
  const rules: Written[] = [];
  if (nulls === 0) {
    const severity = isNullable(schema) ? "warn" : "block";
    rules.push({ rule: "notNull", column, severity, tolerance: 0 });
  } else {
    const maximum = Math.min(1, up((2 * nulls) / rowCount));
    rules.push(warn({ rule: "statistic", column, statistic: "nullShare", maximum }));
  }
  const isSet = (type === "string" || type === "bool") && distinct === top.length && top.length > 0;
  if (isSet) rules.push(warn({ rule: "values", column, values: top.map(({ value }) => value), tolerance: 0 }));
  const isUnique = distinct === rowCount && rowCount >= minUniqueRows && (type === "int" || type === "string");
  if (isUnique) rules.push(warn({ rule: "unique", columns: [column] }));
  else if ((type === "int" || type === "float") && typeof min === "number" && typeof max === "number") {
    const { minimum, maximum } = rangeOf(min, max);
    const bounds =
      type === "int" ? { minimum: Math.floor(minimum), maximum: Math.ceil(maximum) } : { minimum, maximum };
    rules.push(warn({ rule: "range", column, ...bounds, tolerance: 0 }));
    if (mean !== undefined && std !== undefined && std > 0) {
      const bounds = { minimum: down(mean - std), maximum: up(mean + std) };
      rules.push(warn({ rule: "statistic", column, statistic: "mean", ...bounds }));
    }
  }
  return rules;
}

/** Widens a range by a tenth on each side, but not across zero. */
function rangeOf(min: number, max: number): { readonly minimum: number; readonly maximum: number } {
  const margin = (max - min) / 10;
  return {
    minimum: min >= 0 ? Math.max(0, down(min - margin)) : down(min - margin),
    maximum: max <= 0 ? Math.min(0, up(max + margin)) : up(max + margin),
  };
}

const down = (value: number): number => rounded(value, Math.floor);
const up = (value: number): number => rounded(value, Math.ceil);

/** Rounds to three significant digits. */
function rounded(value: number, round: (value: number) => number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
  if (digits > 300) return value;
  const scaled =
    digits >= 0 ? round(value * 10 ** digits) / 10 ** digits : round(value / 10 ** -digits) * 10 ** -digits;
  return Number(scaled.toPrecision(12));
}

/**
 * Writes a contract as YAML, one rule on each line, without the values that are defaults.
 *
 * @param comment first line
 */
export function contractText({ rules }: DataContract, comment: string): string {
  const lines = rules.map((rule) => {
    const { severity, tolerance, ...rest } = rule as typeof rule & { readonly tolerance?: number };
    const stated = {
      ...rest,
      ...(tolerance === undefined || tolerance === 0 ? {} : { tolerance }),
      ...(severity === "block" ? {} : { severity }),
    };
    return `  - ${flowText(stated)}`;
  });
  const list = lines.length === 0 ? "rules: []" : `rules:\n${lines.join("\n")}`;
  return `# ${comment.replaceAll(/\s+/g, " ")}\n${list}\n`;
}

/** Line ends and control characters, which the terminal would not show as they are. */
const special = /[\p{Cc}\u2028\u2029\ufeff]/u;

/** Writes a value on one line. Texts with special characters are quoted: the library would write them over several lines. */
function flowText(value: object): string {
  const document = new Document(value);
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && special.test(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document
    .toString({ collectionStyle: "flow", lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER })
    .trim()
    .replaceAll(new RegExp(special, "gu"), (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
