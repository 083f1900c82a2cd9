import { createHash } from "node:crypto";
import { digestOf } from "../../digest";
import { busy, conflict } from "../../errors";
import type { DocumentKind } from "../../object-documents";
import { count, type Shape } from "../../shapes";
import type { ModelChange } from "../change";
import { noChampion } from "../errors";
import { type Model, type ModelVersion, model } from "../model";
import type { CanaryArm, SequentialPlan, Traffic } from "./shapes";

export const outcomesBusy = (model: string) =>
  busy(
    "OUTCOMES_BUSY",
    `too many requests report outcomes of model ${model} at the same time; send the request again`,
    { model },
  );

export const notACanary = (model: string, version: number, stage: string) =>
  conflict(
    "NOT_A_CANARY",
    `version ${version} of ${model} is in stage ${stage}: only a version in stage canary can get a share of the units`,
    { model, version, stage },
  );

export const noCanaryTest = (model: string) =>
  conflict("NO_CANARY_TEST", `model ${model} has no canary under test`, { model });

/** Number of slots into which the units are divided. */
export const slots = 10_000;

export const noTraffic: Traffic = { canaries: [], shadows: [], deal: 0, epoch: 0 };

export function isUnderTest(traffic: Traffic | undefined, version: number): boolean {
  return traffic?.test !== undefined && traffic.canaries.some((arm) => arm.version === version);
}

export interface TrafficRequest {
  readonly canaries: readonly { readonly version: number; readonly weight: number }[];
  readonly shadows: readonly number[];
  readonly test?: SequentialPlan;
}

/**
 * Changes the parts so that as few units as possible change their version: a canary that shrinks returns slots to the
 * champion, one that grows or is new takes slots from it.
 * @param revision the model's revision that this change creates
 */
export function redirect(before: Traffic, requested: TrafficRequest, revision: number): Traffic {
  const isNew = before.canaries.length === 0;
  const kept = requested.canaries.map((arm) => {
    const owned = before.canaries.find(({ version }) => version === arm.version)?.ranges ?? [];
    return { ...arm, ranges: first(owned, Math.round(arm.weight * slots)) };
  });
  let free = complement(kept.flatMap(({ ranges }) => ranges));
  const canaries = kept.map((arm) => {
    const taken = first(free, Math.round(arm.weight * slots) - sizeOf(arm.ranges));
    free = complement([...complement(free), ...taken]);
    return { ...arm, ranges: joined([...arm.ranges, ...taken]) };
  });
  // Texts are not compared, because a table returns a map's members in its own order.
  const sameArms = digestOf(canaries) === digestOf(before.canaries);
  const sameTest = digestOf(requested.test ?? null) === digestOf(before.test ?? null);
  return {
    canaries,
    shadows: [...new Set(requested.shadows)].sort((a, b) => a - b),
    ...(requested.test && canaries.length > 0 ? { test: requested.test } : {}),
    deal: isNew && canaries.length > 0 ? revision : before.deal,
    epoch: sameArms && sameTest ? before.epoch : revision,
  };
}

/** Keeps only versions that may still serve or be shadows; the champion gets the others' units. */
export function keepOnly(
  traffic: Traffic,
  may: { readonly serve: (version: number) => boolean; readonly shadow: (version: number) => boolean },
  revision: number,
): Traffic {
  const canaries = traffic.canaries.filter(({ version }) => may.serve(version));
  const shadows = traffic.shadows.filter(may.shadow);
  if (canaries.length === traffic.canaries.length && shadows.length === traffic.shadows.length) return traffic;
  return redirect(traffic, { canaries, shadows, test: traffic.test }, revision);
}

type Ranges = CanaryArm["ranges"];

function first(ranges: Ranges, count: number): Ranges {
  let left = count;
  return ranges.flatMap(({ from, to }) => {
    const taken = Math.max(0, Math.min(to - from, left));
    left -= taken;
    return taken === 0 ? [] : [{ from, to: from + taken }];
  });
}

function complement(ranges: Ranges): Ranges {
  let at = 0;
  const free: { from: number; to: number }[] = [];
  for (const { from, to } of joined(ranges)) {
    if (from > at) free.push({ from: at, to: from });
    at = to;
  }
  if (at < slots) free.push({ from: at, to: slots });
  return free;
}

function joined(ranges: Ranges): Ranges {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last?.to === from) last.to = to;
    else result.push({ from, to });
  }
  return result;
}

function sizeOf(ranges: Ranges): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}

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

interface Routes {
  readonly model: string;
  readonly epoch: number;
  /** In the order of the units. */
  readonly assignments: readonly {
    readonly unit: string;
    readonly version: number;
    readonly role: "champion" | "canary";
  }[];
  readonly shadows: readonly number[];
}

/** The part of a model's head that routing needs. The bucket has a copy of it. */
const routed = model.pick({ name: true, production: true, traffic: true }).extend({ revision: count });
export interface RoutedModel extends Shape<typeof routed> {}

export const routingPointer: DocumentKind<RoutedModel> = {
  name: "a model's routing",
  schema: routed,
  maxBytes: 2 ** 24,
};

export function routedModel({ name, revision, production, traffic }: Model): RoutedModel {
  return {
    name,
    revision,
    ...(production === undefined ? {} : { production }),
    ...(traffic === undefined ? {} : { traffic }),
  };
}

/** @throws NO_CHAMPION if nothing was promoted yet */
export function routesOf(model: RoutedModel, units: readonly string[]): Routes {
  const { name, production } = model;
  if (production === undefined) throw noChampion(name);
  const traffic = trafficOf(model);
  return {
    model: name,
    epoch: traffic.epoch,
    assignments: units.map((unit) => {
      const version = assign(name, unit, production, traffic);
      return { unit, version, role: version === production ? "champion" : "canary" };
    }),
    shadows: traffic.shadows,
  };
}

/**
 * Returns the version for a unit: a function of model, traffic and unit alone. Every process gives the same result. If
 * the traffic changes, as few units as possible change their version.
 * @param unit a user, a session or a device, as any text
 * @param champion gets the units that the canaries leave
 */
export function assign(model: string, unit: string, champion: number, { canaries, deal }: Traffic): number {
  const slot = slotOf(model, deal, unit);
  const canary = canaries.find(({ ranges }) => ranges.some(({ from, to }) => slot >= from && slot < to));
  return canary?.version ?? champion;
}

/** Returns the unit's slot by SHA-256, whose first 48 bits are uniform over the slots to one part in 10^10. */
function slotOf(model: string, deal: number, unit: string): number {
  const digest = createHash("sha256").update(`${model}\0${deal}\0${unit}`).digest();
  return digest.readUIntBE(0, 6) % slots;
}
