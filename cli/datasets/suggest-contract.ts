import { Document, visit } from "yaml";
import {
  contractBytes,
  type DataContract,
  type DataContractRule,
  dataContract,
  maxContractBytes,
} from "../../core/datasets/contract/rules";
import type { ColumnProfile } from "../../core/datasets/profile";
import { isNullable } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";

/** Fewer rows may be unique by chance. */
const minUniqueRows = 100;

type Written = { readonly rule: DataContractRule["rule"] } & Readonly<Record<string, unknown>>;

/**
 * Suggests a contract that a version satisfies: what its schema says blocks, what one version only shows has a margin
 * and warns. Of too many rules, those of the least weight are left out.
 */
export function inferContract(
  schema: readonly ColumnSchema[],
  profiles: readonly ColumnProfile[],
  rowCount: number,
): { readonly contract: DataContract; readonly omitted: number } {
  const written: Written[] = [warn({ rule: "rowCount", minimum: Math.ceil(rowCount / 2) })];
  for (const column of schema) {
    const profile = profiles.find(({ name }) => name === column.name);
    written.push({ rule: "type", column: column.name, type: column.type, severity: "block" });
    if (profile) written.push(...columnRules(column, profile, rowCount));
  }
  // A value may be too long or too large for a rule, and a mean may need no bound of its own.
  const valid = written.map((rule) => dataContract.safeParse({ rules: [rule] }).data?.rules[0]);
  const all = valid.filter((rule) => rule !== undefined);
  const kept = new Set(keptRules(all));
  return { contract: { rules: all.filter((rule) => kept.has(rule)) }, omitted: all.length - kept.size };
}

/** The kinds of suggested rules, those that say most about a version first. */
const weights = ["rowCount", "notNull", "type", "values", "range", "unique", "statistic"];

function keptRules(rules: readonly DataContractRule[]): readonly DataContractRule[] {
  const ordered = [...rules].sort((a, b) => weights.indexOf(a.rule) - weights.indexOf(b.rule));
  let bytes = contractBytes({ rules: [] });
  return ordered.filter((rule) => {
    bytes += contractBytes(rule) + 1;
    return bytes <= maxContractBytes;
  });
}

const warn = (rule: Written): Written => ({ ...rule, severity: "warn" });

function columnRules(schema: ColumnSchema, profile: ColumnProfile, rowCount: number): readonly Written[] {
  const { name: column, type } = schema;
  const { nulls, distinct, top = [], min, max, mean, std } = profile;
  const rules: Written[] = [];
  const maximum = up((2 * nulls) / rowCount);
  if (nulls === 0) {
    const severity = isNullable(schema) ? "warn" : "block";
    rules.push({ rule: "notNull", column, severity, tolerance: 0 });
  } else if (maximum < 1) rules.push(warn({ rule: "statistic", column, statistic: "nullShare", maximum }));
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
      // The mean of values in the range has the range's bounds anyway.
      const [low, high] = [down(mean - std), up(mean + std)];
      const closer = { ...(low > minimum ? { minimum: low } : {}), ...(high < maximum ? { maximum: high } : {}) };
      rules.push(warn({ rule: "statistic", column, statistic: "mean", ...closer }));
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

function rounded(value: number, round: (value: number) => number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
  if (digits > 300) return value;
  const scaled =
    digits >= 0 ? round(value * 10 ** digits) / 10 ** digits : round(value / 10 ** -digits) * 10 ** -digits;
  return Number(scaled.toPrecision(12));
}

/** Writes a contract as YAML, one rule on each line, without defaults. */
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
