import { digestOf } from "../../digest";
import { InvalidInputError } from "../../errors";
import { decisionOn } from "../approvals";
import { activeModel, activeVersion, changeModel, type Transition } from "../change";
import { noChampion, notApproved } from "../errors";
import type { Actor } from "../model";
import { mayServe } from "../transitions";
import { notACanary, redirect, type TrafficRequest, trafficOf } from "./traffic";

/** Part of the units above which canaries together need approval like production. */
const partWithoutApproval = 0.5;

/**
 * Changes the canaries' parts, the shadows or the test. A part needs the stage canary and thus a passed gate. Any
 * version may be a shadow, because a shadow answers nobody.
 *
 * @throws NO_CHAMPION, NOT_A_CANARY, NOT_APPROVED for more than half of the units, GateOutdatedError for a
 * larger part with an outdated verdict, MODEL_VERSION_NOT_FOUND, InvalidInputError if the parts exceed the whole
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
      const given = before.canaries.find((arm) => arm.version === version)?.weight ?? 0;
      // An outdated verdict permits the present part of the units, but not a larger one.
      if (weight > given) mayServe(model, candidate);
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
