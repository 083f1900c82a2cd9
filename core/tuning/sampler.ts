import * as z from "zod";
import type { Problem } from "../errors";
import { lossesOf, type Objective } from "./history";
import { cmaesSampler } from "./samplers/cmaes";
import { gpSampler, hasCurves } from "./samplers/gp";
import { nsga2Sampler } from "./samplers/nsga2";
import { gridSampler, gridSize, randomSampler, type Sampler, type SamplerContext } from "./samplers/sampler";
import { sobolSampler } from "./samplers/sobol";
import { tpeSampler } from "./samplers/tpe";
import { mappingRule, settingsOf } from "./settings";
import { cardinality, type Space } from "./space";

export type { Sampler };

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
    settingsOf("sobol", { seed }),
    settingsOf("cmaes", { seed }),
    settingsOf("nsga2", {
      seed,
      /** Trials of a generation. */
      population: z.int().min(2).max(1_000).default(50),
    }),
  ],
  mappingRule("tpe"),
);
export type SamplerSettings = Readonly<z.output<typeof samplerSettingsSchema>>;

export function createSampler(settings: SamplerSettings, space: Space, objectives: readonly Objective[]): Sampler {
  const context: SamplerContext = { space, objectives, seed: settings.seed };
  switch (settings.type) {
    case "auto":
      return autoSampler(context);
    case "grid":
      return gridSampler(context);
    case "random":
      return randomSampler(context);
    case "tpe":
      return tpeSampler(context, settings);
    case "gp":
      return gpSampler(context, settings);
    case "sobol":
      return sobolSampler(context);
    case "cmaes":
      return cmaesSampler(context, tpeDefaults);
    case "nsga2":
      return nsga2Sampler(context, settings);
  }
}

const maxGrid = 1_000_000;

/** Returns the rules that the settings break for this space and number of objectives. */
export function problemsOfSampler(settings: SamplerSettings, space: Space, objectives: number): readonly Problem[] {
  const { type } = settings;
  const refuse = (rule: string): readonly Problem[] => [{ path: "sampler.type", value: type, rule }];
  if ((type === "cmaes" || type === "gp") && objectives > 1) {
    return refuse(
      `must be nsga2, tpe, random, sobol, grid or auto for ${objectives} objectives: ${type} searches for one`,
    );
  }
  if (type === "cmaes" && Object.values(space).every((parameter) => parameter.type === "categorical")) {
    return refuse("must be tpe, random or another sampler: cmaes needs a parameter of type float or int in space");
  }
  if (type !== "grid") return [];
  const size = gridSize(space);
  if (size <= maxGrid) return [];
  return refuse(
    Number.isFinite(size)
      ? `must be another sampler, e.g. tpe, or space must have larger steps: the grid has ${size} combinations, and at most ${maxGrid} are possible`
      : "must be another sampler, e.g. tpe, or each float parameter of space must have a step: a grid is finite",
  );
}

/** Trials with a value above which the Gaussian process takes too long: its cost grows with the cube. */
const maxModelled = 300;
const maxDimensions = 20;
/** Every third trial comes from the Gaussian process; two of three where a scheduler stops trials early. */
const turn = 3;
const startupTrials = 10;
const tpeDefaults = { startupTrials, candidates: 48 };

/**
 * Suggests by TPE, and every third trial by a Gaussian process while it is affordable. Each knows all trials. The
 * process converges on smooth functions, where TPE does not; TPE explores where the process models badly. Where trials are
 * stopped early, the process learns from their curves.
 */
function autoSampler(context: SamplerContext): Sampler {
  const tpe = tpeSampler(context, tpeDefaults);
  const { space, objectives } = context;
  const parameters = Object.values(space);
  const isModelled =
    objectives.length === 1 &&
    parameters.length <= maxDimensions &&
    parameters.some((parameter) => cardinality(parameter) === Number.POSITIVE_INFINITY);
  if (!isModelled) return tpe;
  const gp = gpSampler(context, { startupTrials });
  return {
    usesHistory: true,
    suggest(history, number) {
      const known = history.filter((trial) => lossesOf(trial, objectives) !== undefined).length;
      const isTurn = hasCurves(history) ? number % turn > 0 : number % turn === turn - 1 && known <= maxModelled;
      return (isTurn ? gp : tpe).suggest(history, number);
    },
  };
}
