import { withoutApprovals } from "./approvals";
import { activeVersion, changeVersion, type Transition } from "./change";
import { InProductionError } from "./errors";
import type { Actor, Stage } from "./model";
import { mayServe, promote } from "./transitions";

/**
 * Sets a stage at a person's request. `production` is a promotion. `canary` answers some of the requests and therefore
 * needs a passed gate; there may be several canaries. The others are free. A version leaves production only by the
 * promotion of another version or by a rollback. A canary that leaves its stage loses its approvals.
 *
 * @throws InProductionError, and the errors of `promote`
 */
export function setStage(version: number, stage: Stage, actor: Actor): Transition {
  if (stage === "production") return promote(version, actor);
  return (state) => {
    const candidate = activeVersion(state, version);
    if (state.model.production === version) throw new InProductionError(candidate.model, version);
    if (candidate.stage === stage) return undefined;
    if (stage === "canary") mayServe(state.model, candidate);
    const left =
      candidate.stage === "canary"
        ? withoutApprovals(candidate, "canary-ended", actor, state.model.revision + 1)
        : candidate;
    return changeVersion(state, { action: "staged" }, actor, { ...left, stage });
  };
}
