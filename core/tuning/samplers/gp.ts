import { bestFirst, lossesOf, type Objective, type ObservedTrial, scored } from "../history";
import type { Point } from "../space";
import { coordinateOf, type Dimension, dimensionsOf, pointAt } from "./coordinates";
import { type Features, GaussianProcess } from "./gaussian-process";
import { type Draws, drawsFor, normalCdf, normalPdf, pointOf, type Sampler, type SamplerContext } from "./sampler";

/** A value of a trial during its training, as a loss without the trend that all trials share. */
export interface Observation {
  readonly trial: ObservedTrial;
  /** See `ObservedTrial.curve`. */
  readonly at: number;
  readonly loss: number;
}

/**
 * Returns the values of trials at all epochs at which they were compared, also of trials that were stopped. The shared
 * trend is removed: the median change, from one of these epochs to the next, of the trials that have both. Only better
 * trials have a later value, so the change of the median would not be the trend. A trial without a curve, of an earlier
 * study, counts with its value at the end.
 */
export function detrended(history: readonly ObservedTrial[], objective: Objective): readonly Observation[] {
  const sign = objective.direction === "maximize" ? -1 : 1;
  const trials = history.map((trial) => ({ trial, losses: lossesByPlace(trial, objective, sign) }));
  const places = [...new Set(trials.flatMap(({ losses }) => [...losses.keys()]))].sort((a, b) => a - b);
  const trend = new Map<number, number>();
  for (const [i, at] of places.entries()) {
    const before = places[i - 1] ?? at;
    const changes = trials.flatMap(({ losses }) => {
      const [from, to] = [losses.get(before), losses.get(at)];
      return from === undefined || to === undefined ? [] : [to - from];
    });
    trend.set(at, (trend.get(before) ?? 0) + upperMedian(changes));
  }
  return trials.flatMap(({ trial, losses }) =>
    [...losses].map(([at, loss]) => ({ trial, at, loss: loss - (trend.get(at) as number) })),
  );
}

function lossesByPlace(trial: ObservedTrial, objective: Objective, sign: number): ReadonlyMap<number, number> {
  if (trial.curve) return new Map(trial.curve.map(({ at, value }) => [at, sign * value]));
  const [loss] = lossesOf(trial, [objective]) ?? [];
  return new Map(loss === undefined ? [] : [[1, loss]]);
}

function upperMedian(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

interface GpOptions {
  /** Trials with a value that are drawn at random before the model is used. */
  readonly startupTrials: number;
}

/** Points of which the most promising are refined. */
const [spread, nearby, refined] = [160, 160, 3];
/** Trials nearest to the best whose surroundings are searched. */
const maxCentres = 5;
const refinements = 5;
/** Parallel trials must not be the same, whatever the model takes for noise. */
const minSquaredDistance = 1e-4;
/** Values of curves that are modelled, the latest in training first: the cost grows with the cube of their number. */
const maxObservations = 300;
/** Number of the latest of these that always fit the hyperparameters. */
const lateObservations = 32;
/** Share of the suggestions that take the least lower bound instead, this many deviations below the mean. */
const [exploringShare, boundFactor] = [0.5, 3];

/**
 * Suggests the point with the largest expected improvement under a Gaussian process (Jones et al., 1998), and for half of
 * the trials, by their number, that with the least lower bound (Srinivas et al., 2010), which explores more. Values are
 * compared on a logarithmic scale above the best, so that a few large ones do not hide the differences near it. Running
 * trials count with their predicted value, so that parallel trials spread (kriging believer; Ginsbourger et al., 2010).
 *
 * With a scheduler that stops trials early, the process models the place in training next to the parameters (Swersky et al.,
 * 2013; Kandasamy et al., 2017), and the improvement at the end of training counts: trials that learn fast are not taken
 * for those that end best.
 */
export function gpSampler({ space, objectives, seed }: SamplerContext, { startupTrials }: GpOptions): Sampler {
  const dimensions = dimensionsOf(space);
  const groups = dimensions.flatMap(({ choices }, at) => new Array<number>(Math.max(1, choices)).fill(at));
  const [objective] = objectives;
  return {
    usesHistory: true,
    suggest(history, number) {
      const draws = drawsFor(seed, number);
      const curves = objective && objectives.length === 1 && hasCurves(history) ? detrended(history, objective) : [];
      const scores = scored(history, objectives);
      if (curves.length === 0 && scores.length < startupTrials) return pointOf(space, () => draws.uniform());
      const valued = new Set(scores.map(({ trial }) => trial.number));
      const running = history.filter((trial) => trial.state === "running" && !valued.has(trial.number));
      const { model, best, ordered, place } =
        curves.length > 0 ? modelOfCurves(curves, running, draws) : modelOfValues(scores, running, draws);
      const taken = running.map(({ params }) => place(params));
      // A lower bound at the end of training is lowest where nothing is known of it: everywhere but near few trials.
      const explores = curves.length === 0 && draws.uniform() < exploringShare;
      const score = (coordinates: readonly number[]): number => {
        const features = place(pointAt(dimensions, (_dimension, at) => coordinates[at] as number));
        if (taken.some((one) => squaredDistance(one, features) < minSquaredDistance)) return -Infinity;
        const { mean, deviation } = model.predict(features);
        if (explores) return boundFactor * deviation - mean;
        return logExpectedImprovement((best - mean) / deviation) + Math.log(deviation);
      };
      const centres = ordered.slice(0, maxCentres).map(({ params }) => dimensions.map((one) => middleOr(one, params)));
      const chosen = maximize(dimensions, centres, score, draws);
      return pointAt(dimensions, (_dimension, at) => chosen[at] as number);
    },
  };

  function modelOfValues(pairs: ReturnType<typeof scored>, running: readonly ObservedTrial[], draws: Draws): Surrogate {
    const place = (params: Point) => featuresOf(dimensions, params);
    const sorted = bestFirst(pairs);
    const ordered = sorted.map(({ trial }) => trial);
    // A stopped or infeasible trial has no better value than the trials before it.
    let worst = -Infinity;
    const values = warped(sorted.map(({ losses: [loss = 0] }) => (worst = Math.max(worst, loss))));
    const points = ordered.map(({ params }) => place(params));
    const first = new GaussianProcess(points, values, groups, fittedOf(points.length, draws));
    const believed = running.map(({ params }) => place(params));
    return { model: withBelieved(first, points, values, groups, believed), best: Math.min(...values), ordered, place };
  }

  function modelOfCurves(all: readonly Observation[], running: readonly ObservedTrial[], draws: Draws): Surrogate {
    const placeAt = (params: Point, at: number) => Float64Array.of(...featuresOf(dimensions, params), at);
    const place = (params: Point) => placeAt(params, 1);
    const latest = [...all].sort((a, b) => b.at - a.at || a.loss - b.loss).slice(0, maxObservations);
    const sorted = [...latest.keys()].sort((a, b) => latest[a]!.loss - latest[b]!.loss);
    const points = sorted.map((i) => placeAt(latest[i]!.trial.params, latest[i]!.at));
    const values = warped(sorted.map((i) => latest[i]!.loss));
    const curveGroups = [...groups, dimensions.length];
    // Values late in training are few, and tell most of its end.
    const late = new Set(sorted.flatMap((i, at) => (i < lateObservations ? at : [])));
    const fitted = [...late, ...fittedOf(points.length, draws).filter((i) => !late.has(i))];
    const first = new GaussianProcess(points, values, curveGroups, fitted);
    const believed = running.map(({ params }) => place(params));
    const model = withBelieved(first, points, values, curveGroups, believed);
    const trials = [...new Map(latest.map(({ trial }) => [trial.number, trial])).values()];
    const predicted = trials
      .map((trial) => ({ trial, mean: model.predict(place(trial.params)).mean }))
      .sort((a, b) => a.mean - b.mean || a.trial.number - b.trial.number);
    return { model, best: predicted[0]?.mean ?? 0, ordered: predicted.map(({ trial }) => trial), place };
  }
}

/** A model with the data that the search for the next point needs. */
interface Surrogate {
  readonly model: GaussianProcess;
  /** The value to improve on. */
  readonly best: number;
  /** The trials, best first. */
  readonly ordered: readonly ObservedTrial[];
  /** Returns the features of a point at the end of training. */
  readonly place: (params: Point) => Features;
}

/** Tests whether trials were compared at more than one epoch. */
export function hasCurves(history: readonly ObservedTrial[]): boolean {
  return history.some(({ curve = [] }) => curve.length > 1);
}

/** Returns a coordinate of a trial; the middle for an inactive parameter. */
function middleOr(dimension: Dimension, params: Point): number {
  const coordinate = coordinateOf(dimension, params);
  return Number.isNaN(coordinate) ? (dimension.choices > 0 ? 0 : 0.5) : coordinate;
}

function featuresOf(dimensions: readonly Dimension[], params: Point): Features {
  return Float64Array.from(
    dimensions.flatMap((dimension) => {
      const coordinate = coordinateOf(dimension, params);
      if (dimension.choices === 0) return [Number.isNaN(coordinate) ? 0.5 : coordinate];
      return Array.from({ length: dimension.choices }, (_, choice) => (choice === coordinate ? 1 : 0));
    }),
  );
}

/** Maps losses, ascending, to values with mean 0 and deviation 1. */
function warped(losses: readonly number[]): Float64Array {
  const least = losses[0] ?? 0;
  const typical = (losses[Math.floor(losses.length / 2)] ?? 0) - least;
  const scale = typical > 0 ? typical / 2 : 1;
  const logs = losses.map((loss) => Math.log1p((loss - least) / scale));
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  const deviation = Math.sqrt(logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / logs.length) || 1;
  return Float64Array.from(logs, (value) => (value - mean) / deviation);
}

/** Returns the best half of the fitted points, and others at random. */
function fittedOf(count: number, draws: Draws): readonly number[] {
  const best = Math.min(32, count);
  const others = Array.from({ length: count - best }, (_, i) => best + i);
  for (let i = others.length - 1; i > 0; i -= 1) {
    const j = draws.index(i + 1);
    [others[i], others[j]] = [others[j] as number, others[i] as number];
  }
  return [...Array.from({ length: best }, (_, i) => i), ...others];
}

/** Adds running trials, each with its predicted value. */
function withBelieved(
  model: GaussianProcess,
  points: readonly Features[],
  values: Float64Array,
  groups: readonly number[],
  running: readonly Features[],
): GaussianProcess {
  if (running.length === 0) return model;
  const believed = Float64Array.from([...values, ...running.map((point) => model.predict(point).mean)]);
  return new GaussianProcess([...points, ...running], believed, groups, [], model.hyperparameters);
}

function squaredDistance(a: Features, b: Features): number {
  return a.reduce((sum, one, at) => sum + (one - (b[at] as number)) ** 2, 0);
}

/** Searches the unit cube: points spread over it, points near the best trials, and steps around the best of both. */
function maximize(
  dimensions: readonly Dimension[],
  centres: readonly (readonly number[])[],
  score: (coordinates: readonly number[]) => number,
  draws: Draws,
): readonly number[] {
  const anywhere = ({ choices }: Dimension) => (choices > 0 ? draws.index(choices) : draws.uniform());
  const near = (centre: readonly number[], width: number) =>
    dimensions.map((dimension, at) => {
      if (dimension.choices > 0) return draws.uniform() < 0.15 ? anywhere(dimension) : (centre[at] as number);
      return Math.min(1, Math.max(0, (centre[at] as number) + width * draws.normal()));
    });
  const candidates = [
    ...Array.from({ length: spread }, () => dimensions.map(anywhere)),
    ...Array.from({ length: nearby }, (_, i) =>
      near(centres[i % centres.length] as readonly number[], 10 ** -(0.7 + 2.3 * draws.uniform())),
    ),
  ];
  const ranked = candidates
    .map((coordinates) => ({ coordinates: coordinates as readonly number[], value: score(coordinates) }))
    .sort((a, b) => b.value - a.value);
  let best = ranked[0] as (typeof ranked)[number];
  for (const start of ranked.slice(0, refined)) {
    let at = start;
    for (let round = 0; round < refinements; round += 1) {
      const width = 0.1 * 3 ** -round;
      for (let attempt = 0; attempt < 2 * dimensions.length; attempt += 1) {
        const coordinates = near(at.coordinates, width);
        const value = score(coordinates);
        if (value > at.value) at = { coordinates, value };
      }
    }
    if (at.value > best.value) best = at;
  }
  return best.coordinates;
}

const logRoot2Pi = 0.5 * Math.log(2 * Math.PI);

/** log(z Φ(z) + φ(z)), the log expected improvement; far below zero, where the sum cancels, its asymptotic series. */
export function logExpectedImprovement(z: number): number {
  if (z < -5) return -0.5 * z * z - logRoot2Pi - 2 * Math.log(-z);
  return Math.log(z * normalCdf(z) + normalPdf(z));
}
