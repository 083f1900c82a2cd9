import { conflict, notFound } from "../../errors";
import { isoTime } from "../../ports";
import * as approvals from "../approval-requests";
import { activeVersion, type Transition } from "../change";
import type { Actor, ModelVersion } from "../model";
import { recordGate } from "../transitions";
import { answeredCheck, answerIn, verdictPassed } from "./external-check";
import type { CheckAnswer, GateVerdict } from "./verdict";

/** Records a verdict with the answers that arrived in the meantime, so that none to the same check is lost. */
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
 * @throws NOT_JUDGED, CHECK_NOT_FOUND, CHECK_ANSWERED_BY_HOOK
 */
function answerCheck(version: number, check: string, answer: CheckAnswer): Transition {
  return (state) => {
    const candidate = activeVersion(state, version);
    const { gate, model } = candidate;
    if (!gate) throw notJudged(model, version);
    const line = gate.checks.find(({ metric, external }) => external && metric === check);
    if (!line?.external) {
      const names = gate.checks.filter(({ external }) => external).map(({ metric }) => metric);
      throw checkNotFound(model, version, check, names);
    }
    if (line.external.kind === "http") throw checkAnsweredByHook(model, check);
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

/**
 * Records a command's answer to a check, then answers the run that waits with the version if the answer decides.
 * Idempotent.
 * @throws MODEL_NOT_FOUND, MODEL_VERSION_NOT_FOUND, NOT_JUDGED, CHECK_NOT_FOUND, CHECK_ANSWERED_BY_HOOK, REGISTRY_BUSY
 */
export async function answerVersionCheck(
  dependencies: approvals.ApprovalDependencies,
  target: { readonly model: string; readonly version: number; readonly check: string },
  answer: Omit<CheckAnswer, "at">,
): Promise<ModelVersion> {
  const { registry, clock } = dependencies;
  const { model, version, check } = target;
  const head = await registry.apply(model, [version], answerCheck(version, check, { ...answer, at: isoTime(clock) }));
  const answered = await registry.version(model, version);
  await approvals.answer(dependencies, head, answered);
  return answered;
}

const notJudged = (model: string, version: number) =>
  conflict("NOT_JUDGED", `version ${version} of ${model} has no gate verdict yet, so its checks cannot be answered`, {
    model,
    version,
  });

export function checkNotFound(model: string, version: number | undefined, check: string, names: readonly string[]) {
  const where = version === undefined ? `the policy of ${model}` : `the verdict on version ${version} of ${model}`;
  const there = names.length === 0 ? "it has no checks" : `its checks are ${names.join(", ")}`;
  return notFound("CHECK_NOT_FOUND", `${where} has no check ${JSON.stringify(check)}: ${there}`, {
    model,
    version,
    check,
    known: names,
  });
}

const checkAnsweredByHook = (model: string, check: string) =>
  conflict("CHECK_ANSWERED_BY_HOOK", `check ${check} of ${model} is an HTTP check, which only its webhook answers`, {
    model,
    check,
  });
