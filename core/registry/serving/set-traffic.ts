import { digestOf } from "../../digest";
import { InvalidInputError } from "../../errors";
import { decisionOn } from "../approvals";
import { activeModel, activeVersion, changeModel, type Transition } from "../change";
import { NoChampionError, NotApprovedError } from "../errors";
import type { Actor } from "../model";
import { mayServe } from "../transitions";
import { NotACanaryError } from "./errors";
import { trafficOf } from "./settle";
import { redirect, type TrafficRequest } from "./traffic";

/** Of all canaries together: what serves most of the units is in production in all but name, and needs what production needs. */
const partWithoutApproval = 0.5;

/**
 * Other parts for the canaries, other shadows, another test. A part needs the stage canary, and so a passed gate; a shadow answers nobody, so that any version may be one.
 *
 * @throws NoChampionError, NotACanaryError, NotApprovedError for more than half of the units, GateOutdatedError for a larger part under a verdict that is outdated, VersionNotFoundError, InvalidInputError where the parts are more than the whole
 */
export function setTraffic(asked: TrafficRequest, actor: Actor): Transition {
  return (state) => {
    const model = activeModel(state);
    if (model.production === undefined) throw new NoChampionError(model.name);
    checkParts(asked, model.production);
    const before = trafficOf(model);
    const most = asked.canaries.reduce((sum, { weight }) => sum + weight, 0);
    for (const { version, weight } of asked.canaries) {
      const candidate = activeVersion(state, version);
      if (candidate.stage !== "canary") throw new NotACanaryError(model.name, version, candidate.stage);
      const given = before.canaries.find((arm) => arm.version === version)?.weight ?? 0;
      // Of another champion or by older rules a verdict stands for the units that there are, and for no more.
      if (weight > given) mayServe(model, candidate);
      const decision = decisionOn(model, candidate);
      if (most > partWithoutApproval && decision.state !== "approved") throw new NotApprovedError(candidate, decision);
    }
    for (const version of asked.shadows) activeVersion(state, version);
    const traffic = redirect(before, asked, model.revision + 1);
    if (digestOf(traffic) === digestOf(before)) return undefined;
    const subject = asked.canaries.map(({ version, weight }) => `${version}=${weight}`).join(" ");
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
