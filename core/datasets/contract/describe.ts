import { listed } from "../rules";
import type { DataContractRule } from "./rules";

/** Returns a rule as a requirement of its columns: `must be between 0 and 10`. */
export function describeRule(rule: DataContractRule): string {
  return requirementOf(rule) + toleranceText(rule);
}

function requirementOf(rule: DataContractRule): string {
  switch (rule.rule) {
    case "type":
      return `must be of type ${rule.type}`;
    case "notNull":
      return "must not be missing";
    case "range":
      return `must be ${boundsText(rule, "")}`;
    case "length":
      return `must have a length ${boundsText(rule)}`;
    case "values":
      return `must be one of ${listed(rule.values)}`;
    case "pattern":
      return `must match ${rule.pattern}`;
    case "unique":
      return rule.columns.length === 1 ? "must differ in each row" : "together must differ in each row";
    case "rowCount":
      return `must have a count ${boundsText(rule)}`;
    case "freshness":
      return `must have a newest time of at most ${rule.maxAge} ago`;
    case "expression":
      return `must satisfy ${rule.expression}`;
    case "reference":
      return `must be a value of ${rule.references.column} in ${referenceText(rule.references)}`;
    case "statistic":
      return `must have a ${statisticText(rule)} ${boundsText(rule)}`;
    case "drift":
      return `must have a ${rule.measure} of at most ${rule.maximum} against ${rule.baseline === "previous" ? "the previous version" : `version ${rule.baseline}`}`;
  }
}

/** Returns the columns that a rule names; an expression's are in its text. */
export function columnsOfRule(rule: DataContractRule): readonly string[] {
  if (rule.rule === "unique") return rule.columns;
  return "column" in rule ? [rule.column] : [];
}

function statisticText({
  statistic,
  probability,
}: {
  readonly statistic: string;
  readonly probability?: number | undefined;
}) {
  const names: Readonly<Record<string, string>> = {
    std: "standard deviation",
    nullShare: "share of missing values",
    distinct: "number of distinct values",
  };
  return statistic === "quantile" ? `${probability}-quantile` : (names[statistic] ?? statistic);
}

function referenceText({
  dataset,
  version,
}: {
  readonly dataset: string;
  readonly version?: number | undefined;
}): string {
  return version === undefined ? dataset : `${dataset}@${version}`;
}

function boundsText(
  rule: { readonly minimum?: number | string | undefined; readonly maximum?: number | string | undefined },
  of = "of ",
): string {
  const { minimum, maximum } = rule;
  if (minimum === undefined) return `${of}at most ${maximum}`;
  if (maximum === undefined) return `${of}at least ${minimum}`;
  return `between ${minimum} and ${maximum}`;
}

function toleranceText(rule: DataContractRule): string {
  const { tolerance } = rule as { readonly tolerance?: number };
  return tolerance === undefined || tolerance === 0 ? "" : ` in all but ${percent(tolerance)} of the rows`;
}

export function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}
