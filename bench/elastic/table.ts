import type { Scenario } from "./scenarios";
import { checkpointEverySteps } from "./task";
import type { Outcome } from "./trial";

export interface Summary {
  readonly trials: number;
  readonly complete: number;
  readonly sameBits: number;
  readonly lostSteps: number;
  /** Maximum over the trials. */
  readonly repeatedSteps: number;
  readonly pointsMissing: number;
  /** Trials in which training had begun and was not finished. */
  readonly resumed: number;
  readonly medianMs: number | undefined;
  readonly p95Ms: number | undefined;
  readonly maxMs: number | undefined;
}

export function summaryOf(outcomes: readonly Outcome[], sha256: string): Summary {
  const resumes = outcomes.flatMap(({ resumeMs }) => (resumeMs === undefined ? [] : [resumeMs])).sort((a, b) => a - b);
  return {
    trials: outcomes.length,
    complete: outcomes.filter(({ complete }) => complete).length,
    sameBits: outcomes.filter((outcome) => outcome.sha256 === sha256).length,
    lostSteps: outcomes.reduce((sum, { lostSteps }) => sum + lostSteps, 0),
    repeatedSteps: Math.max(0, ...outcomes.map(({ repeatedSteps }) => repeatedSteps)),
    pointsMissing: outcomes.reduce((sum, outcome) => sum + outcome.pointsMissing, 0),
    resumed: resumes.length,
    medianMs: quantile(resumes, 0.5),
    p95Ms: quantile(resumes, 0.95),
    maxMs: resumes.at(-1),
  };
}

/** Uses the nearest rank. */
function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

const columns = [
  "scenario",
  "trials",
  "complete",
  "same SHA-256",
  "finished steps lost",
  "repeated, at most",
  "resumed",
  "median",
  "p95",
  "maximum",
];

export function renderTable(rows: readonly { readonly scenario: Scenario; readonly summary: Summary }[]): string {
  const lines = rows.map(({ scenario, summary }) => {
    const { trials, complete, sameBits, lostSteps, repeatedSteps, resumed, medianMs, p95Ms, maxMs } = summary;
    return [
      scenario.title,
      trials,
      complete,
      sameBits,
      lostSteps,
      `${repeatedSteps}${scenario.repeats ? ` (interval ${checkpointEverySteps})` : ""}`,
      resumed,
      ...[medianMs, p95Ms, maxMs].map(timeText),
    ].map(String);
  });
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map((_, i) => (i === 0 ? "--" : "--:"))), ...lines.map(line)].join("\n");
}

export function timeText(ms: number | undefined): string {
  if (ms === undefined) return "–";
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}
