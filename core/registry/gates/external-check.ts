import { digestOf } from "../../digest";
import type { ExternalCheck } from "../../runs/gate-rules";
import type { CheckAnswer, GateCheck, GateVerdict } from "./verdict";

/** Returns a digest of the check's definition. If the definition changes, earlier answers no longer count. */
export function checkDigest(check: ExternalCheck): string {
  return digestOf(check);
}

/**
 * Returns the check's line in a verdict while there is no answer.
 *
 * @param why the reason for waiting, as a sentence
 */
export function pendingCheck(check: ExternalCheck, why: string): GateCheck {
  const { name, kind } = check;
  const external = { kind, digest: checkDigest(check) };
  const evidence = `${name} has no answer yet: ${why}`;
  return { gate: "check", metric: name, value: null, limit: null, passed: false, pending: true, evidence, external };
}

/** Returns the check's line with an answer. */
export function answeredCheck(line: GateCheck, answer: CheckAnswer): GateCheck {
  const { passed, by, exitCode } = answer;
  const how = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
  const evidence = `${line.metric} ${passed ? "passed" : "failed"}${how}, reported by ${by}: ${answer.evidence}`;
  const { pending: _, ...rest } = line;
  return { ...rest, passed, evidence, external: { ...line.external!, answer } };
}

/** Returns the verdict's answer to this check. */
export function answerIn(verdict: GateVerdict | undefined, name: string, digest: string): CheckAnswer | undefined {
  const line = verdict?.checks.find(({ metric, external }) => metric === name && external?.digest === digest);
  return line?.external?.answer;
}

/** Returns whether nothing has failed and a check has no answer yet. */
export function isPending({ checks }: Pick<GateVerdict, "checks">): boolean {
  return checks.some(({ pending }) => pending) && checks.every(({ passed, pending }) => passed || pending);
}

export function verdictPassed(checks: readonly GateCheck[]): boolean {
  return checks.every(({ passed }) => passed);
}
