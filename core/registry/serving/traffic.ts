import { digestOf } from "../../digest";
import type { SequentialPlan } from "./sequential-test";
import type { CanaryArm, Traffic } from "./shapes";

export type { CanaryArm, Traffic } from "./shapes";

/** Parts of the units are counted in so many slots. */
export const slots = 10_000;

export const noTraffic: Traffic = { canaries: [], shadows: [], deal: 0, epoch: 0 };

/** Whether a version answers a part of the units, and a test is to say what becomes of it. */
export function isUnderTest(traffic: Traffic | undefined, version: number): boolean {
  return traffic?.test !== undefined && traffic.canaries.some((arm) => arm.version === version);
}

/** What is asked for in place of what there is. */
export interface TrafficRequest {
  readonly canaries: readonly { readonly version: number; readonly weight: number }[];
  readonly shadows: readonly number[];
  readonly test?: SequentialPlan;
}

/**
 * Other parts, of which units feel as little as can be: a canary that shrinks gives slots back to the champion, one that grows or is new takes them from it.
 *
 * @param revision the model's, that this change makes
 */
export function redirect(before: Traffic, asked: TrafficRequest, revision: number): Traffic {
  const anew = before.canaries.length === 0;
  const kept = asked.canaries.map((arm) => {
    const owned = before.canaries.find(({ version }) => version === arm.version)?.ranges ?? [];
    return { ...arm, ranges: first(owned, Math.round(arm.weight * slots)) };
  });
  let free = complement(kept.flatMap(({ ranges }) => ranges));
  const canaries = kept.map((arm) => {
    const taken = first(free, Math.round(arm.weight * slots) - sizeOf(arm.ranges));
    free = complement([...complement(free), ...taken]);
    return { ...arm, ranges: joined([...arm.ranges, ...taken]) };
  });
  // Not by their text: a table gives a map's members back in an order of its own.
  const sameArms = digestOf(canaries) === digestOf(before.canaries);
  const sameTest = digestOf(asked.test ?? null) === digestOf(before.test ?? null);
  return {
    canaries,
    shadows: [...new Set(asked.shadows)].sort((a, b) => a - b),
    ...(asked.test && canaries.length > 0 ? { test: asked.test } : {}),
    deal: anew && canaries.length > 0 ? revision : before.deal,
    epoch: sameArms && sameTest ? before.epoch : revision,
  };
}

/** Only those that may still serve, or be asked: the champion takes the others' units over. */
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

/** The lowest `count` slots of some. */
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

/** Ascending, neighbours made one. */
function joined(ranges: Ranges): Ranges {
  const made: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = made.at(-1);
    if (last?.to === from) last.to = to;
    else made.push({ from, to });
  }
  return made;
}

function sizeOf(ranges: Ranges): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}
