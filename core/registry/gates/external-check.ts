import { digestOf } from "../../digest";
import type { ExternalCheck } from "../policy";
import type { CheckAnswer, GateCheck, GateVerdict } from "./verdict";

/** Of what is asked: where the declaration changes, answers to the one before are none. */
export function checkDigest(check: ExternalCheck): string {
  return digestOf(check);
}

/** The check's line in a verdict while nobody has answered. @param why what is waited for: a sentence */
export function pendingCheck(check: ExternalCheck, why: string): GateCheck {
  const { name, kind } = check;
  const external = { kind, digest: checkDigest(check) };
  const evidence = `${name} has no answer yet: ${why}`;
  return { gate: "check", metric: name, value: null, limit: null, passed: false, pending: true, evidence, external };
}

/** The same line with an answer. */
export function answeredCheck(line: GateCheck, answer: CheckAnswer): GateCheck {
  const { passed, by, exitCode } = answer;
  const how = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
  const evidence = `${line.metric} ${passed ? "passed" : "failed"}${how}, reported by ${by}: ${answer.evidence}`;
  const { pending: _, ...rest } = line;
  return { ...rest, passed, evidence, external: { ...line.external!, answer } };
}

/** The answer that a verdict has to that very check. */
export function answerIn(verdict: GateVerdict | undefined, name: string, digest: string): CheckAnswer | undefined {
  const line = verdict?.checks.find(({ metric, external }) => metric === name && external?.digest === digest);
  return line?.external?.answer;
}

/** Whether nothing has failed, and something is waited for. */
export function isPending({ checks }: Pick<GateVerdict, "checks">): boolean {
  return checks.some(({ pending }) => pending) && checks.every(({ passed, pending }) => passed || pending);
}

export function verdictPassed(checks: readonly GateCheck[]): boolean {
  return checks.every(({ passed }) => passed);
}
