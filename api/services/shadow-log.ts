import * as z from "zod";
import { digestOf } from "../../core/digest";
import { createJson, type DocumentKind, getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { type Clock, isoTime, type ObjectStore } from "../../core/ports";
import { instant, type Shape } from "../../core/shapes";
import { shadowObservation, type shadowSummary } from "../schemas/serving";

export type ShadowObservation = Shape<typeof shadowObservation>;
type ModelOutput = ShadowObservation["served"];

const reportSchema = z.object({ at: instant, observations: z.array(shadowObservation) });
const report: DocumentKind<Shape<typeof reportSchema>> = {
  name: "a report of a shadow",
  schema: reportSchema,
  maxBytes: 2 ** 26,
};

type LogStore = Pick<ObjectStore, "putNew" | "find" | "list">;

/** Number of reports in a summary, the newest first. */
const maxReports = 200;
const examplesShown = 10;

/** Stores a shadow's predictions. Idempotent: a repeated request overwrites its own report. */
export async function logShadow(
  { objects, clock }: { readonly objects: LogStore; readonly clock: Clock },
  model: string,
  version: number,
  observations: readonly ShadowObservation[],
): Promise<{ readonly stored: boolean }> {
  const at = isoTime(clock);
  const key = objectKeys.shadowReport(model, version, at.slice(0, 10), digestOf(observations));
  const { created } = await createJson(
    objects,
    key,
    report,
    { at, observations },
    { essence: (each) => each.observations },
  );
  return { stored: created };
}

/** Compares a shadow with the serving version, by the newest reports. */
export async function summarizeShadow(
  objects: LogStore,
  model: string,
  version: number,
): Promise<Shape<typeof shadowSummary>> {
  const listed = await objects.list(objectKeys.shadowPrefix(model, version));
  // A report that is repeated after midnight is stored under two days.
  const keys = [...new Map(listed.toReversed().map((key) => [key.slice(key.lastIndexOf("/")), key])).values()].sort();
  const reports = await Promise.all(keys.slice(-maxReports).map((key) => getJson(objects, key, report)));
  const observations = reports.flatMap((each) => each.observations);
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
    truncated: keys.length > maxReports,
  };
}

/** Returns 0 if both agree; for numbers their distance, for classes 1. */
function differenceOf({ served, shadow }: ShadowObservation): number {
  if (typeof served === "number" && typeof shadow === "number") return Math.abs(served - shadow);
  return classOf(served) === classOf(shadow) ? 0 : 1;
}

function isNumberPair({ served, shadow }: ShadowObservation): boolean {
  return typeof served === "number" && typeof shadow === "number";
}

/** Returns the index of the greatest probability, the first of equals. */
function classOf(output: ModelOutput): string | number | boolean {
  return typeof output === "object" ? output.indexOf(Math.max(...output)) : output;
}
