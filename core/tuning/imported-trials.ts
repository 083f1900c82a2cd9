import * as z from "zod";
import { InvalidInputError } from "../errors";
import { parseDocument } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import { problemsOf } from "../problems";
import type { Shape } from "../shapes";
import type { Objective, ObservedTrial } from "./history";
import { contains, isActive, type Json, type Point, parameterOrder, type Space, settingValue } from "./space";

const maxTrials = 10_000;
const maxBytes = 32 * 1024 * 1024;

/** Trials of a study that was made elsewhere, in the content store. */
export const importedTrials = z.strictObject({
  format: z.literal("ringmaster/trials@1"),
  /** Name of the study where it was made. */
  study: z.string().max(1_000),
  /** Directions of the objectives, in their order. */
  directions: z.array(z.enum(["minimize", "maximize"])).min(1),
  trials: z
    .array(
      z.strictObject({
        params: z.record(z.string(), settingValue),
        state: z.enum(["completed", "stopped"]),
        reports: z.array(z.strictObject({ epoch: z.int().min(0), value: z.number() })).max(100_000),
        values: z.array(z.number()).optional(),
        constraints: z.array(z.number()).optional(),
      }),
    )
    .min(1)
    .max(maxTrials),
});
export type ImportedTrials = Shape<typeof importedTrials>;

/**
 * Returns the trials of an imported study that lie in a space.
 *
 * @param path of the reference in the study's definition, for errors
 * @throws InvalidInputError if there is no such document, its objectives are others, or none of its trials lies in the
 * space
 */
export async function trialsOfImport(
  objects: Pick<ObjectStore, "size" | "getContent">,
  { space, objectives }: { readonly space: Space; readonly objectives: readonly Objective[] },
  reference: { readonly path: string; readonly sha256: string },
): Promise<readonly Omit<ObservedTrial, "number">[]> {
  const refuse = (rule: string) =>
    new InvalidInputError("the study", [{ path: reference.path, value: reference.sha256, rule }]);
  const { directions, trials } = await readImport(objects, reference.sha256, refuse);
  const own = objectives.map(({ direction }) => direction);
  if (own.join() !== directions.join()) {
    throw refuse(`has trials that ${directions.join(" and ")}, but the study's objectives ${own.join(" and ")}`);
  }
  const found = trials.flatMap(({ params, ...trial }) => {
    const point = pointIn(space, params);
    return point === undefined ? [] : [{ ...trial, params: point }];
  });
  if (found.length === 0) throw refuse(`must have a trial in the space: ${misfitsOf(space, trials)}`);
  return found;
}

async function readImport(
  objects: Pick<ObjectStore, "size" | "getContent">,
  sha256: string,
  refuse: (rule: string) => InvalidInputError,
): Promise<ImportedTrials> {
  const key = objectKeys.content(sha256);
  const bytes = await objects.size(key);
  if (bytes === undefined) throw refuse("must be trials that were imported: ringmaster study import FILE");
  if (bytes > maxBytes) throw refuse(`must have at most ${maxBytes} bytes, but has ${bytes}`);
  const parsed = importedTrials.safeParse(parseDocument<unknown>(key, await objects.getContent(sha256)));
  if (!parsed.success) throw new InvalidInputError("the imported trials", problemsOf(parsed.error).slice(0, 20));
  return parsed.data;
}

/** Returns the values of the active parameters; `undefined` if one is missing or outside of the space. */
export function pointIn(space: Space, params: Point): Point | undefined {
  const point: Record<string, Json> = {};
  for (const name of parameterOrder(space)) {
    const parameter = space[name] as Space[string];
    if (!isActive(parameter, point)) continue;
    const value = params[name];
    if (value === undefined || !contains(parameter, value)) return undefined;
    point[name] = value;
  }
  return point;
}

/** Describes for each parameter why trials do not lie in the space. */
function misfitsOf(space: Space, trials: ImportedTrials["trials"]): string {
  return Object.entries(space)
    .flatMap(([name, parameter]) => {
      const missing = trials.filter(({ params }) => params[name] === undefined).length;
      const outside = trials.filter(({ params }) => params[name] !== undefined && !contains(parameter, params[name]));
      return [
        ...(missing > 0 && parameter.when === undefined
          ? [`${name} is missing in ${missing} of ${trials.length}`]
          : []),
        ...(outside.length > 0 ? [`${name} is outside in ${outside.length}`] : []),
      ];
    })
    .join(", ");
}
