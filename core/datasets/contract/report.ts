import * as z from "zod";
import { ageMs } from "../../quantities";
import type { RunStepKind } from "../../runs/run-states";
import { contentReference, count, instant, type Shape, sha256, type Warning, warning } from "../../shapes";
import { columnsOfRule, describeRule, percent } from "./describe";
import type { DataContract, DataContractRule } from "./rules";

/** Rows that a report shows for each violated rule. */
export const samplesShown = 5;
/** Violations that a run's record, an event and a request have. The stored report has all. */
const maxViolations = 50;
const maxMessage = 2_000;
/** Warnings of a version, whose row also has its manifest. */
const maxWarnings = 20;
/** Bytes of all samples in a run's record, which is a row of at most 400 KB. */
const maxSampleBytes = 100_000;
const maxRequirement = 1_000;

const sample = z
  .object({
    row: count.meta({ description: "Number of the row, from 1." }),
    values: z
      .record(z.string(), z.string().max(200).nullable())
      .meta({ description: "Values as text; null: missing." }),
  })
  .meta({ id: "DataContractSample" });
export type ContractSample = Shape<typeof sample>;

export const dataContractOutcome = z
  .object({
    rule: z.string().max(20).meta({ description: "The kind of the rule." }),
    index: count.meta({ description: "Place in the contract, from 0." }),
    name: z.string().max(100).optional(),
    severity: z.enum(["block", "warn"]),
    columns: z.array(z.string().max(255)).max(50),
    requirement: z
      .string()
      .max(maxRequirement + 1)
      .meta({ description: "The rule in words: `must not be missing`." }),
    status: z.enum(["passed", "violated", "skipped"]),
    rows: count.optional().meta({ description: "Number of rows that break the rule." }),
    measured: z
      .union([z.number(), z.string().max(200)])
      .optional()
      .meta({ description: "Value that the rule bounds: a statistic, a number of rows, the newest time, a type." }),
    problem: z
      .string()
      .max(2_000)
      .optional()
      .meta({ description: "Reason why the rule cannot be applied, or was skipped." }),
    samples: z.array(sample).max(samplesShown),
  })
  .meta({ id: "DataContractOutcome", description: "The result of one rule." });
export interface ContractOutcome extends Shape<typeof dataContractOutcome> {}

export const contractStatus = z.enum(["passed", "warned", "blocked"]);

export const dataContractReport = z
  .object({
    dataset: z.object({ name: z.string().optional(), version: z.int().optional(), digest: sha256.optional() }),
    revision: z
      .int()
      .optional()
      .meta({ description: "Revision of the stored contract; absent for the contract of a file." }),
    at: instant.meta({ description: "The time to which ages refer." }),
    rows: count,
    status: contractStatus,
    outcomes: z.array(dataContractOutcome),
  })
  .meta({ id: "DataContractReport", description: "The results of a data contract's rules for a version." });
export interface ContractReport extends Shape<typeof dataContractReport> {}

/** The part of a report in a run's record. */
export const contractSummary = z.object({
  revision: z.int(),
  status: contractStatus,
  rules: count,
  violations: z.array(dataContractOutcome),
  report: contentReference,
});
export interface ContractSummary extends Shape<typeof contractSummary> {}

/** Output of the step `ValidateDataset`. */
export const validationOutput = z.object({
  rowCount: count,
  profile: contentReference.meta({ description: "Profile by column, JSON in the content store." }),
  warnings: z.array(warning),
  contract: contractSummary.optional().meta({
    description:
      "Result of the dataset's data contract; absent if it had none. The caller refuses the run if it blocks.",
  }),
});
export interface ValidationOutput extends Shape<typeof validationOutput> {}
export const validationKind: RunStepKind<ValidationOutput> = { step: "ValidateDataset", output: validationOutput };

export interface Measurement {
  readonly rows?: number;
  readonly measured?: number | string;
  /** Reason why the rule cannot be applied. */
  readonly problem?: string;
  /** Reason why the rule has nothing to compare with. */
  readonly skipped?: string;
  readonly columns?: readonly string[];
  readonly samples?: readonly ContractSample[];
}

/**
 * Decides by measurements which rules hold.
 *
 * @param measurements in the order of the rules
 */
export function decideContract(
  { rules }: DataContract,
  measurements: readonly Measurement[],
  context: Pick<ContractReport, "dataset" | "rows" | "at"> & { readonly revision?: number | undefined },
): ContractReport {
  const { revision, ...rest } = context;
  const outcomes = rules.map((rule, index): ContractOutcome => {
    const measurement = measurements[index] ?? {};
    const { rows, measured, problem, skipped, columns = columnsOfRule(rule), samples = [] } = measurement;
    const status = skipped !== undefined ? "skipped" : isViolated(rule, measurement, context) ? "violated" : "passed";
    return {
      ...{
        rule: rule.rule,
        index,
        severity: rule.severity,
        columns,
        requirement: shortened(describeRule(rule)),
        status,
      },
      name: rule.name,
      rows,
      measured,
      ...(problem === undefined && skipped === undefined ? {} : { problem: problem ?? skipped }),
      samples: status === "violated" ? samples.slice(0, samplesShown) : [],
    };
  });
  const violated = outcomes.filter(({ status }) => status === "violated");
  const isBlocked = violated.some(({ severity }) => severity === "block");
  return {
    ...rest,
    revision,
    status: isBlocked ? "blocked" : violated.length > 0 ? "warned" : "passed",
    outcomes,
  };
}

function shortened(requirement: string): string {
  return requirement.length <= maxRequirement ? requirement : `${requirement.slice(0, maxRequirement)}…`;
}

function isViolated(
  rule: DataContractRule,
  { rows = 0, measured, problem }: Measurement,
  { rows: all, at }: { readonly rows: number; readonly at: string },
): boolean {
  if (problem !== undefined) return true;
  switch (rule.rule) {
    case "type":
      return measured !== rule.type;
    case "rowCount":
      return isOutside(all, rule);
    case "statistic":
    case "drift":
      // Rows without a value have no statistic, and a contract that bounds it expects some.
      return typeof measured !== "number" || isOutside(measured, rule);
    case "freshness":
      return typeof measured !== "string" || Date.parse(at) - Date.parse(measured) > ageMs(rule.maxAge)!;
    case "unique":
      return rows > 0;
    default:
      return rows > rule.tolerance * all;
  }
}

function isOutside(
  value: number,
  { minimum, maximum }: { readonly minimum?: number | undefined; readonly maximum?: number | undefined },
): boolean {
  return (minimum !== undefined && value < minimum) || (maximum !== undefined && value > maximum);
}

export const violationsOf = ({ outcomes }: Pick<ContractReport, "outcomes">): readonly ContractOutcome[] =>
  outcomes.filter(({ status }) => status === "violated");

/** Returns the violations as a run's record, an event or a request has them: those that block first. */
export function shownViolations(report: Pick<ContractReport, "outcomes">): readonly ContractOutcome[] {
  const ordered = [...violationsOf(report)].sort((one, other) => rank(one) - rank(other) || one.index - other.index);
  let left = maxSampleBytes;
  return ordered.slice(0, maxViolations).map((outcome) => {
    const samples = outcome.samples.slice(0, 3);
    left -= new TextEncoder().encode(JSON.stringify(samples)).length;
    return { ...outcome, samples: left >= 0 ? samples : [] };
  });
}

const rank = ({ severity }: ContractOutcome): number => (severity === "block" ? 0 : 1);

/** Describes a violation in one line: `origin must match [A-Z]{3}: 2 rows, first row 17: "x1"`. */
export function describeViolation(outcome: ContractOutcome, rows?: number): string {
  const { columns, requirement, measured, problem, samples } = outcome;
  const subject = columns.length > 0 && outcome.rule !== "expression" ? `${columns.join(", ")} ` : "rows ";
  const named = outcome.name === undefined ? "" : `${outcome.name}: `;
  return `${named}${subject}${requirement}: ${problem ?? evidenceOf(outcome.rows, rows, measured, samples)}`;
}

function evidenceOf(
  count: number | undefined,
  rows: number | undefined,
  measured: ContractOutcome["measured"],
  [first]: ContractOutcome["samples"],
): string {
  if (count === undefined) return measured === undefined ? "there is no value" : `it is ${measured}`;
  const share = rows ? ` (${percent(count / rows)})` : "";
  const values = Object.entries(first?.values ?? {}).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const where = first === undefined ? "" : `, first row ${first.row}: ${values.join(", ")}`;
  return `${count} ${count === 1 ? "row" : "rows"}${share}${where}`;
}

/** Lists violations in one text of at most 2,000 characters. */
export function violationsText(outcomes: readonly ContractOutcome[], rows?: number): string {
  const texts = outcomes.map((outcome) => describeViolation(outcome, rows));
  let text = "";
  for (const [index, one] of texts.entries()) {
    const next = index === 0 ? one : `${text}; ${one}`;
    if (next.length > maxMessage) {
      const left = texts.length - index;
      return index === 0 ? `${one.slice(0, maxMessage)}…` : `${text}; and ${left} more`;
    }
    text = next;
  }
  return text;
}

/** Returns a warning for each violation that does not block. */
export function contractWarnings(report: ContractReport): readonly Warning[] {
  return violationsOf(report)
    .filter(({ severity }) => severity === "warn")
    .slice(0, maxWarnings)
    .map((outcome) => ({ code: "DATA_CONTRACT", message: describeViolation(outcome, report.rows).slice(0, 500) }));
}
