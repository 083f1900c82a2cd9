import { lossesOf, type Objective } from "./history";
import { gpSampler, hasCurves } from "./samplers/gp";
import { gridSampler, randomSampler, type Sampler, type SamplerContext } from "./samplers/sampler";
import { tpeSampler } from "./samplers/tpe";
import type { SamplerSettings } from "./settings";
import { cardinality, type Space } from "./space";

export type { Sampler };

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
  }
}

/** Trials with a value above which the Gaussian process takes too long: its cost grows with the cube. */
const maxModelled = 300;

const maxDimensions = 20;

/** Every third trial comes from the Gaussian process; two of three where a scheduler stops trials early. */
const turn = 3;

const startupTrials = 10;

/**
 * Suggests by TPE, and every third trial by a Gaussian process while it is affordable. Each knows all trials. The
 * process converges on smooth functions, where TPE does not; TPE explores where the process models badly. Where trials are
 * stopped early, the process learns from their curves.
 */
function autoSampler(context: SamplerContext): Sampler {
  const tpe = tpeSampler(context, { startupTrials, candidates: 48 });
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
      const lossCount = history.filter((trial) => lossesOf(trial, objectives) !== undefined).length;
      const isTurn = hasCurves(history) ? number % turn > 0 : number % turn === turn - 1 && lossCount <= maxModelled;
      return (isTurn ? gp : tpe).suggest(history, number);
    },
  };
}
