import { digestOf } from "../../digest";
import { InvalidInputError, RingmasterError } from "../../errors";
import { type Clock, isoTime } from "../../ports";
import * as approvals from "../approval-requests";
import { decisionOn, notApproved } from "../approvals";
import { activeModel, activeVersion, changeModel, type Transition } from "../change";
import { noChampion } from "../errors";
import type { Actor, Model } from "../model";
import type { Registry } from "../registry";
import { mayServe, promote, setStage } from "../transitions";
import { type ArmSums, judgeCanary, noSums, type OutcomeRepository } from "./sequential-test";
import type { ArmState, Decided, SequentialPlan, SequentialVerdict } from "./shapes";
import { noCanaryTest, notACanary, redirect, type TrafficRequest, trafficOf } from "./traffic";

/** Part of the units above which canaries together need approval like production. */
const partWithoutApproval = 0.5;

/**
 * Changes the canaries' parts, the shadows or the test. A part needs the stage canary and thus a passed gate. Any
 * version may be a shadow, because a shadow answers nobody.
 * @throws NO_CHAMPION, NOT_A_CANARY, NOT_APPROVED for more than half of the units, GateOutdatedError for a larger part
 * with an outdated verdict, MODEL_VERSION_NOT_FOUND, InvalidInputError if the parts exceed the whole
 */
export function setTraffic(requested: TrafficRequest, actor: Actor): Transition {
  return (state) => {
    const model = activeModel(state);
    if (model.production === undefined) throw noChampion(model.name);
    checkParts(requested, model.production);
    const before = trafficOf(model);
    const total = requested.canaries.reduce((sum, { weight }) => sum + weight, 0);
    for (const { version, weight } of requested.canaries) {
      const candidate = activeVersion(state, version);
      if (candidate.stage !== "canary") throw notACanary(model.name, version, candidate.stage);
      const oldWeight = before.canaries.find((arm) => arm.version === version)?.weight ?? 0;
      // An outdated verdict permits the present part of the units, but not a larger one.
      if (weight > oldWeight) mayServe(model, candidate);
      const decision = decisionOn(model, candidate);
      if (total > partWithoutApproval && decision.state !== "approved")
        throw notApproved(candidate, decision, "without them, canaries get at most 0.5 of the units in total");
    }
    for (const version of requested.shadows) activeVersion(state, version);
    const traffic = redirect(before, requested, model.revision + 1);
    if (digestOf(traffic) === digestOf(before)) return undefined;
    const subject = requested.canaries.map(({ version, weight }) => `${version}=${weight}`).join(" ");
    return changeModel(state, { action: "traffic-set", ...(subject === "" ? {} : { subject }) }, actor, { traffic });
  };
}

function checkParts({ canaries, shadows }: TrafficRequest, production: number): void {
  const problems = [];
  const sum = canaries.reduce((all, { weight }) => all + weight, 0);
  if (sum > 1 + 1e-9) {
    problems.push({
      path: "canaries",
      value: sum,
      rule: "must have weights that sum to at most 1; the champion gets the rest",
    });
  }
  for (const version of [...canaries.map((arm) => arm.version), ...shadows]) {
    if (version !== production) continue;
    problems.push({
      path: "canaries",
      value: version,
      rule: "must not include the version in production, which gets the rest",
    });
  }
  const named = [...canaries.map((arm) => arm.version), ...shadows];
  const twice = named.find((version, i) => named.indexOf(version) !== i);
  if (twice !== undefined)
    problems.push({
      path: "canaries",
      value: twice,
      rule: "must not name a version twice: a version is a canary or a shadow",
    });
  if (problems.length > 0) throw new InvalidInputError("the traffic", problems);
}

/** Includes runs and tokens, because the run that made a canary may wait for the decision. */
export interface ServingDependencies extends Pick<approvals.ApprovalDependencies, "runs" | "tokens"> {
  readonly registry: Registry;
  readonly outcomes: OutcomeRepository;
  readonly clock: Clock;
}

/** Returns each arm's outcomes since the last change of the traffic, and the test's result. */
export async function armStates(
  { outcomes }: Pick<ServingDependencies, "outcomes">,
  model: Model,
): Promise<readonly ArmState[]> {
  const { production } = model;
  const { canaries, epoch, test } = trafficOf(model);
  if (production === undefined) return [];
  const sums = canaries.length === 0 ? new Map<number, ArmSums>() : await outcomes.sums(model.name, epoch);
  const champion = sums.get(production) ?? noSums;
  return [
    { version: production, role: "champion", ...champion },
    ...canaries.map(({ version }) => {
      const canary = sums.get(version) ?? noSums;
      const verdict = test && { verdict: judgeCanary(amongSeveral(test, canaries.length), canary, champion) };
      return { version, role: "canary" as const, ...canary, ...verdict };
    }),
  ];
}

/** Applies Bonferroni's correction, because several canaries are several chances of an error. */
function amongSeveral(test: SequentialPlan, canaries: number): SequentialPlan {
  return { ...test, alpha: test.alpha / canaries };
}

/**
 * Executes the test's decision: the canary with the greatest gain is promoted, if gates and approvals allow it;
 * otherwise the one with the greatest loss leaves its units and its stage. One canary at a time, because outcomes are
 * counted again after the arms change. Idempotent.
 * @throws NO_CANARY_TEST
 */
export async function decideCanaries(
  dependencies: ServingDependencies,
  name: string,
  by: string,
): Promise<readonly Decided[]> {
  const { registry } = dependencies;
  const model = await registry.head(name);
  const { test, epoch } = trafficOf(model);
  const canaries = (await armStates(dependencies, model)).filter(isUnderTest);
  if (test === undefined || canaries.length === 0) throw noCanaryTest(name);
  const decided = new Map<number, Decided>(
    canaries.map(({ version, verdict }) => [version, { version, verdict, done: "none" }]),
  );
  for (const { version, verdict } of [...canaries].sort(byUrgency)) {
    const done = await carryOut(dependencies, name, epoch, { version, verdict, by });
    decided.set(version, { version, verdict, ...done });
    if (done.done === "promoted" || done.done === "rolled-back") break;
  }
  return [...decided.values()];
}

type UnderTest = ArmState & Required<Pick<ArmState, "verdict">>;

function isUnderTest(arm: ArmState): arm is UnderTest {
  return arm.verdict !== undefined;
}

/** Orders promotions first, by gain, then losses by size. */
function byUrgency(a: UnderTest, b: UnderTest): number {
  const order: Readonly<Record<SequentialVerdict["decision"], number>> = { promote: 0, "roll-back": 1, "keep-on": 2 };
  const [one, other] = [order[a.verdict.decision], order[b.verdict.decision]];
  if (one !== other) return one - other;
  const gain = (a.verdict.gain?.estimate ?? 0) - (b.verdict.gain?.estimate ?? 0);
  return one === 0 ? -gain : gain;
}

async function carryOut(
  dependencies: ServingDependencies,
  name: string,
  epoch: number,
  { version, verdict, by }: { readonly version: number; readonly verdict: SequentialVerdict; readonly by: string },
): Promise<Pick<Decided, "done" | "refusal">> {
  const { registry, clock } = dependencies;
  const { decision } = verdict;
  if (decision === "keep-on") return { done: "none" };
  const actor = { by, reason: verdict.evidence, at: isoTime(clock) };
  const transition = decision === "promote" ? promote(version, actor, "test") : setStage(version, "archived", actor);
  try {
    const after = await registry.apply(
      name,
      [version],
      whileSame(epoch, transition),
      `decide#${epoch}#${version}#${decision}`,
    );
    if (trafficOf(after).epoch === epoch) return { done: "none" };
    if (decision !== "promote") return { done: "rolled-back" };
    await approvals.answer(dependencies, after, await registry.version(name, version));
    await approvals.answerAll(dependencies, name);
    return { done: "promoted" };
  } catch (error) {
    if (!(error instanceof RingmasterError) || error.retryable) throw error;
    return { done: "refused", refusal: { code: error.code, message: error.message } };
  }
}

/** Outcomes of other arms or other parts decide nothing. */
function whileSame(epoch: number, transition: Transition): Transition {
  return (state) => (trafficOf(state.model).epoch === epoch ? transition(state) : undefined);
}
