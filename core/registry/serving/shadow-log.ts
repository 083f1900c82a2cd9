import { isoTime } from "../../clock";
import { digestOf } from "../../digest";
import { createJson, getJson } from "../../object-documents";
import { objectKeys } from "../../object-keys";
import type { Clock, ObjectStore } from "../../ports";

/** A class, a number, or the probabilities of classes. */
export type ModelOutput = string | number | boolean | readonly number[];

/** What the one that serves said of a unit's request, and what the shadow would have said. */
export interface ShadowObservation {
  readonly unit: string;
  readonly served: ModelOutput;
  readonly shadow: ModelOutput;
}

export interface ShadowSummary {
  readonly version: number;
  readonly observations: number;
  /** Part in which both name the same class; of outputs that are classes or probabilities. */
  readonly agreement?: number;
  /** Of outputs that are numbers. */
  readonly meanAbsoluteDifference?: number;
  /** Some that differ most, for a look. */
  readonly examples: readonly ShadowObservation[];
  /** Whether there are more parcels than were read. */
  readonly truncated: boolean;
}

interface Parcel {
  readonly at: string;
  readonly observations: readonly ShadowObservation[];
}

type LogStore = Pick<ObjectStore, "putNew" | "find" | "list" | "get">;

/** Parcels of a summary: the newest. */
const parcelsRead = 200;
const examplesShown = 10;

/** Keeps what a shadow said. The same request again finds its own parcel. */
export async function logShadow(
  { objects, clock }: { readonly objects: LogStore; readonly clock: Clock },
  model: string,
  version: number,
  observations: readonly ShadowObservation[],
): Promise<{ readonly stored: boolean }> {
  const at = isoTime(clock);
  const key = objectKeys.shadowParcel(model, version, at.slice(0, 10), digestOf(observations));
  const parcel: Parcel = { at, observations };
  const { created } = await createJson(objects, key, parcel, { essence: (each) => each.observations });
  return { stored: created };
}

/** How a shadow compares with what served beside it, by the newest parcels. */
export async function summarizeShadow(objects: LogStore, model: string, version: number): Promise<ShadowSummary> {
  const listed = await objects.list(objectKeys.shadowPrefix(model, version));
  // Sent again after midnight, a parcel lies under two days.
  const keys = [...new Map(listed.toReversed().map((key) => [key.slice(key.lastIndexOf("/")), key])).values()].sort();
  const parcels = await Promise.all(keys.slice(-parcelsRead).map((key) => getJson<Parcel>(objects, key)));
  const observations = parcels.flatMap((parcel) => parcel.observations);
  const differences = observations.map((observation) => ({ observation, difference: differenceOf(observation) }));
  const numbers = differences.filter(({ observation }) => isNumberPair(observation));
  const classes = differences.filter(({ observation }) => !isNumberPair(observation));
  const examples = differences
    .filter(({ difference }) => difference > 0)
    .sort((a, b) => b.difference - a.difference)
    .slice(0, examplesShown)
    .map(({ observation }) => observation);
  return {
    version,
    observations: observations.length,
    ...(classes.length === 0
      ? {}
      : { agreement: classes.filter(({ difference }) => difference === 0).length / classes.length }),
    ...(numbers.length === 0
      ? {}
      : { meanAbsoluteDifference: numbers.reduce((sum, { difference }) => sum + difference, 0) / numbers.length }),
    examples,
    truncated: keys.length > parcelsRead,
  };
}

/** 0 where both say the same; of numbers how far apart, of classes 1. */
function differenceOf({ served, shadow }: ShadowObservation): number {
  if (typeof served === "number" && typeof shadow === "number") return Math.abs(served - shadow);
  return classOf(served) === classOf(shadow) ? 0 : 1;
}

function isNumberPair({ served, shadow }: ShadowObservation): boolean {
  return typeof served === "number" && typeof shadow === "number";
}

/** Of probabilities the place of the greatest, of several the first. */
function classOf(output: ModelOutput): string | number | boolean {
  return typeof output === "object" ? output.indexOf(Math.max(...output)) : output;
}
