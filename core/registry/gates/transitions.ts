import { activeVersion, type Transition } from "../change";
import type { Actor } from "../model";
import { recordGate } from "../transitions";
import { CheckAnsweredByHookError, CheckNotFoundError, NotJudgedError } from "./errors";
import { answeredCheck, answerIn, verdictPassed } from "./external-check";
import type { CheckAnswer, GateVerdict } from "./verdict";

/**
 * Records a verdict with the answers that arrived while it was made. An answer to the same check is not lost when the
 * version is judged again.
 */
export function recordVerdict(version: number, verdict: GateVerdict, actor: Actor): Transition {
  return (state) => {
    const { gate } = activeVersion(state, version);
    const checks = verdict.checks.map((line) => {
      const answer = line.pending && line.external ? answerIn(gate, line.metric, line.external.digest) : undefined;
      return answer ? answeredCheck(line, answer) : line;
    });
    return recordGate(version, { ...verdict, checks, passed: verdictPassed(checks) }, actor)(state);
  };
}

/**
 * Records an answer to a check; the rest of the verdict stays. The same answer again changes nothing. Another answer
 * replaces it, and people must approve again.
 *
 * @throws NotJudgedError, CheckNotFoundError, CheckAnsweredByHookError
 */
export function answerCheck(version: number, check: string, answer: CheckAnswer): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { gate, model } = candidate;
    if (!gate) throw new NotJudgedError(model, version);
    const line = gate.checks.find(({ metric, external }) => external && metric === check);
    if (!line?.external) {
      const known = gate.checks.filter(({ external }) => external).map(({ metric }) => metric);
      throw new CheckNotFoundError(model, version, check, known);
    }
    if (line.external.kind === "http") throw new CheckAnsweredByHookError(model, check);
    if (sameAnswer(line.external.answer, answer)) return undefined;
    const checks = gate.checks.map((each) => (each === line ? answeredCheck(line, answer) : each));
    const reason = `check ${check} ${answer.passed ? "passed" : "failed"}`;
    const verdict = { ...gate, checks, passed: verdictPassed(checks), at: answer.at };
    return recordGate(version, verdict, { by: answer.by, at: answer.at, reason })(state);
  };
}

function sameAnswer(one: CheckAnswer | undefined, other: CheckAnswer): boolean {
  if (!one) return false;
  const { at: _at, ...ours } = one;
  const { at: _too, ...theirs } = other;
  return JSON.stringify(ours) === JSON.stringify(theirs);
}
