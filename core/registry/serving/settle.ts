import type { ModelChange } from "../change";
import type { ModelVersion } from "../model";
import { keepOnly, noTraffic, type Traffic } from "./traffic";

/**
 * Adjusts the traffic to a registry change, in the same write: a version that is no longer a canary gets no units, a
 * deleted one is no longer a shadow, and with another champion outcomes are counted from zero.
 */
export function settleTraffic(change: ModelChange): ModelChange {
  const before = change.model.traffic;
  if (before === undefined) return change;
  const { revision, production, productionRevision } = change.model;
  const changed = new Map(change.versions.map((version) => [version.version, version]));
  const kept = keepOnly(
    before,
    {
      serve: (version) => isActive(changed.get(version)) && (changed.get(version)?.stage ?? "canary") === "canary",
      shadow: (version) => isActive(changed.get(version)) && version !== production,
    },
    revision,
  );
  const traffic = productionRevision === revision && kept.canaries.length > 0 ? { ...kept, epoch: revision } : kept;
  return traffic === before ? change : { ...change, model: { ...change.model, traffic } };
}

/** An undefined version was not changed, and is therefore active. */
function isActive(version: ModelVersion | undefined): boolean {
  return version === undefined || version.lifecycle === "active";
}

export function trafficOf(model: { readonly traffic?: Traffic }): Traffic {
  return model.traffic ?? noTraffic;
}
