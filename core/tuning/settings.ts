import * as z from "zod";
import type { Problem } from "../errors";
import { gridSize, type Space } from "./space";

/** Creates the schema of one type of sampler or scheduler. Its messages name the settings that the type has. */
export function settingsOf<const Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  const names = Object.keys(fields);
  const hint = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
  return z.strictObject(
    { type: z.literal(type), ...fields },
    {
      error: ({ code }) =>
        code === "unrecognized_keys" ? `is not a setting of type ${type}, so remove it: ${hint}` : undefined,
    },
  );
}

/** The message for a value that is no mapping: people write the type alone. */
export const mappingRule = (example: string) => ({
  error: ({ code }: { readonly code?: string | undefined }) =>
    code === "invalid_type" ? `must be a mapping with a type and its settings, e.g. { type: ${example} }` : undefined,
});

const epochs = z.int().min(1).max(1_000_000);

const halving = { minEpochs: epochs.default(1), factor: z.int().min(2).max(100).default(3) };

export const schedulerSettingsSchema = z.discriminatedUnion(
  "type",
  [
    settingsOf("none", {}),
    settingsOf("successive-halving", { ...halving }),
    settingsOf("asha", { ...halving }),
    settingsOf("hyperband", { ...halving }),
    settingsOf("population", {
      population: z.int().min(2).max(1_000).default(8),
      /** Epochs between two exploitations. */
      interval: epochs.default(1),
      /** Share of the population that is replaced, and share that it is replaced from. */
      fraction: z.number().gt(0).max(0.5).default(0.25),
      /** Probability that a parameter is drawn again instead of perturbed. */
      resample: z.number().min(0).max(1).default(0.25),
      seed: z.int().min(0).max(4_294_967_295).default(0),
    }),
  ],
  mappingRule("asha"),
);

export type SchedulerSettings = Readonly<z.output<typeof schedulerSettingsSchema>>;

export function problemsOfScheduler(settings: SchedulerSettings, maxEpochs: number): readonly Problem[] {
  const length = settings.type === "population" ? "interval" : "minEpochs";
  const value = (settings as Readonly<Record<string, unknown>>)[length];
  if (typeof value !== "number" || value <= maxEpochs) return [];
  const rule = `must be at most the epochs of a trial, which hyperparameters.epochs of the job sets to ${maxEpochs}`;
  return [{ path: `scheduler.${length}`, value, rule }];
}

const seed = z.int().min(0).max(4_294_967_295).default(0);

export const samplerSettingsSchema = z.discriminatedUnion(
  "type",
  [
    settingsOf("auto", { seed }),
    settingsOf("grid", { seed }),
    settingsOf("random", { seed }),
    settingsOf("tpe", {
      seed,
      /** Trials with a value that are drawn at random before the model is used. */
      startupTrials: z.int().min(1).max(10_000).default(10),
      /** Points that are drawn for a suggestion, of which the best is taken. */
      candidates: z.int().min(1).max(1_000).default(48),
    }),
    settingsOf("gp", {
      seed,
      /** Trials with a value that are drawn at random before the model is used. */
      startupTrials: z.int().min(2).max(10_000).default(10),
    }),
  ],
  mappingRule("tpe"),
);

export type SamplerSettings = Readonly<z.output<typeof samplerSettingsSchema>>;

const maxGrid = 1_000_000;

export function problemsOfSampler(settings: SamplerSettings, space: Space, objectives: number): readonly Problem[] {
  const { type } = settings;
  const refuse = (rule: string): readonly Problem[] => [{ path: "sampler.type", value: type, rule }];
  if (type === "gp" && objectives > 1)
    return refuse(`must be tpe, random, grid or auto for ${objectives} objectives: gp searches for one`);
  if (type !== "grid") return [];
  const size = gridSize(space);
  if (size <= maxGrid) return [];
  return refuse(
    Number.isFinite(size)
      ? `must be another sampler, e.g. tpe, or space must have larger steps: the grid has ${size} combinations, and at most ${maxGrid} are possible`
      : "must be another sampler, e.g. tpe, or each float parameter of space must have a step: a grid is finite",
  );
}
