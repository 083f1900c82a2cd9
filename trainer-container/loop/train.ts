import { setImmediate as nextTurn } from "node:timers/promises";
import { GenerationLostError } from "../collective/errors";
import type { SplitBlocks } from "../data/feed";
import type { TrainableModel } from "../engine/engine";
import { type Generation, gangSignals } from "../gang/gang";
import { leafRange } from "../reduction/plan";
import { type FoundBest, recordEpoch, requireBest } from "./best-epoch";
import { TrainingHaltedError } from "./errors";
import type { TrainingPlan } from "./plan";
import type { Replica } from "./replica";
import { addScore, type Score, type ScoreLayout, scoreOf } from "./score";
import { shardedSteps } from "./sharded-steps";
import { replicatedSteps, type Steps } from "./steps";
import type { Training } from "./training";

/**
 * Scores a split with the same bits for every world size: leaf l sums its fixed range of blocks, and the gang adds the
 * V leaves in its canonical order.
 * @returns the score, its sums, and the signals that ranks raised in the meantime
 */
async function validate(
  generation: Generation,
  model: TrainableModel,
  blocks: SplitBlocks,
  layout: ScoreLayout,
  microBatches: number,
  signals: number,
  finishedSteps: number,
): Promise<{ readonly score: Score; readonly sums: Float32Array; readonly signals: number }> {
  const leaves: Float32Array[] = [];
  for (let leaf = generation.leaves.first; leaf < generation.leaves.end; leaf += 1) {
    const sums = new Float64Array(layout.length);
    const range = leafRange(blocks.count, microBatches, leaf);
    for (let block = range.first; block < range.end; block += 1) {
      addScore(layout, model.evaluate(await blocks.block(block)), sums);
      await nextTurn();
      if (generation.lost) throw generation.lost;
    }
    leaves.push(Float32Array.from(sums));
  }
  const total = new Float32Array(layout.length);
  const answer = await generation.allReduce(leaves, total, signals, finishedSteps);
  return { score: scoreOf(layout, total), sums: total, signals: answer };
}

export type TrainingEnd =
  /** `paused`: the segment of the run has ended, and steps remain. */
  | {
      readonly end: "completed" | "paused";
      readonly rank: number;
      readonly generation: number;
      readonly train: Score;
      readonly validation?: Score;
      readonly test?: Score;
      readonly finishedSteps: number;
      /** With early stopping: the epoch whose scores these are, and whose weights are the result. */
      readonly best?: Pick<FoundBest, "epoch" | "value" | "weights">;
      /** Returns the number of earlier ranks that are still connected: a rank leaves the gang once the result is stored. */
      readonly ranksBefore: () => number;
    }
  /** This worker leaves; the others continue. */
  | { readonly end: "interrupted"; readonly rank: number }
  /** The others finished without this worker. */
  | { readonly end: "ended-elsewhere" };

type EndOfGeneration = TrainingEnd | "re-form";

/**
 * Trains to the end over any number of generations; a lost one costs the step in progress.
 * @throws TrainingHaltedError if training cannot continue
 */
export async function train(training: Training): Promise<TrainingEnd> {
  const { replica, model, events, sharding } = training;
  const steps = sharding === undefined ? replicatedSteps(training) : shardedSteps(training, sharding);
  for (;;) {
    const generation = await training.enter(replica.finishedSteps);
    if (generation === undefined) return { end: "ended-elsewhere" };
    let completed = false;
    try {
      await steps.begin(generation);
      model.writeWeights(replica.weights);
      events.generationStarted(generation, replica.finishedSteps);
      const ended = await trainGeneration(training, generation, steps);
      if (ended === "re-form") continue;
      completed = ended.end === "completed" || ended.end === "paused";
      return ended;
    } catch (error) {
      if (!(error instanceof GenerationLostError)) throw error;
      events.generationLost(error, replica.finishedSteps);
    } finally {
      if (!completed) generation.close(); // otherwise its connections show who is alive to store the result
      steps.end();
    }
  }
}

async function trainGeneration(training: Training, generation: Generation, steps: Steps): Promise<EndOfGeneration> {
  const { plan, replica, layout, events } = training;
  const raise = () => (training.leaving() ? gangSignals.leaving : 0);

  // A generation may have been lost between an epoch's last step and its validation. Repeating it changes nothing.
  let epochEnd = atEpochEnd(plan, replica) ? await finishEpoch(training, generation, steps, raise()) : undefined;
  if (epochEnd?.next) return epochEnd.next;

  while (replica.finishedSteps < plan.lastStep && epochEnd?.stops !== true) {
    const raised = raise();
    const { outcome, signals } = await steps.take(generation, raised).catch(async (error: unknown) => {
      throw await explained(training, generation, error);
    });
    events.stepFinished(outcome, generation);

    // After the last step no rank needs to leave or join: all write the end.
    const last = replica.finishedSteps === plan.lastStep;
    const next = last ? undefined : afterSignals(signals, raised, generation);
    if (!atEpochEnd(plan, replica) || next) {
      if (await steps.atBoundary(generation, false)) events.boundary(replica, generation, undefined);
    }
    if (next) return next;
    if (atEpochEnd(plan, replica)) {
      epochEnd = await finishEpoch(training, generation, steps, raise());
      if (epochEnd.next) return epochEnd.next;
    }
  }
  const isComplete = epochEnd?.stops === true || plan.lastStep === plan.totalSteps;
  const best = isComplete ? bestOf(training) : {};
  const test = isComplete ? await scoreTest(training, generation, best.best?.weights) : undefined;
  return {
    end: isComplete ? "completed" : "paused",
    rank: generation.rank,
    generation: generation.number,
    finishedSteps: replica.finishedSteps,
    train: scoreOf(layout, replica.epochScore),
    ranksBefore: () =>
      generation.members.filter(({ rank }) => rank < generation.rank && !generation.departed(rank)).length,
    ...(epochEnd?.validation === undefined ? {} : { validation: epochEnd.validation }),
    ...(test === undefined ? {} : { test }),
    ...best,
  };
}

/** Scores the test split with the weights of `best`; absent: those that the model has. */
async function scoreTest(
  { plan, model, replica, layout, test }: Training,
  generation: Generation,
  best: Float32Array | undefined,
): Promise<Score | undefined> {
  const blocks = await test?.();
  if (blocks === undefined || blocks.count === 0) return undefined;
  if (best) model.writeWeights(best);
  const scored = await validate(generation, model, blocks, layout, plan.microBatches, 0, replica.finishedSteps);
  return scored.score;
}

/** Returns the scores and weights of the best epoch. @throws TrainingHaltedError if there is none */
function bestOf({ plan: { earlyStopping }, replica: { best, finishedSteps }, layout }: Training) {
  if (best === undefined || earlyStopping === undefined) return {};
  const { train, validation, epoch, value, weights } = requireBest(best, earlyStopping, layout, finishedSteps);
  return { train, validation, best: { epoch, value, weights } };
}

/** Adds to the error of a step whose loss or gradient is not finite where this rank's part of it comes from, if it knows. */
async function explained(
  { leaves, replica }: Training,
  { leaves: range }: Generation,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof TrainingHaltedError) || !error.code.startsWith("NON_FINITE_")) return error;
  const explanation = await leaves.explainNonFinite(replica.finishedSteps, range).catch(() => undefined);
  if (explanation === undefined) return error;
  const { code, message, step } = error;
  return new TrainingHaltedError(code, `${message} ${explanation.description}`, step, { cause: explanation.place });
}

interface FinishedEpoch {
  readonly validation: Score | undefined;
  /** The metric of early stopping has not improved for too long: training is complete. */
  readonly stops: boolean;
  /** End of the generation; undefined: continue with the next step. */
  readonly next: EndOfGeneration | undefined;
}

async function finishEpoch(
  training: Training,
  generation: Generation,
  steps: Steps,
  leaving: number,
): Promise<FinishedEpoch> {
  const { plan, model, replica, layout, events } = training;
  const { finishedSteps } = replica;
  // A leaving rank takes shards with it: only the end of a step ensures that others have them.
  const raised = training.sharding === undefined ? leaving : 0;
  const { epoch } = plan.sampler.position(finishedSteps - 1);
  const train = scoreOf(layout, replica.epochScore);
  let validation: Score | undefined;
  let signals = 0;
  let stops = false;
  if (training.validation.count > 0) {
    const blocks = training.validation;
    const scored = await validate(generation, model, blocks, layout, plan.microBatches, raised, finishedSteps);
    validation = scored.score;
    signals = scored.signals;
    if (replica.best && plan.earlyStopping) {
      await training.writable?.(); // a checkpoint may still need the weights of the best epoch before
      stops = recordEpoch(replica.best, plan.earlyStopping, layout, {
        epoch: epoch + 1,
        trainSums: replica.epochScore,
        validationSums: scored.sums,
        weights: replica.weights,
      });
    }
  }
  events.epochFinished(epoch, finishedSteps, train, validation);
  if (await steps.atBoundary(generation, true)) events.boundary(replica, generation, validation);
  const last = finishedSteps === plan.lastStep || stops;
  return { validation, stops, next: last ? undefined : afterSignals(signals, raised, generation) };
}

/** Decides from the signals. All ranks saw the same bits, so all decide alike. */
function afterSignals(signals: number, raised: number, generation: Generation): EndOfGeneration | undefined {
  if ((signals & gangSignals.stop) !== 0 || (signals & raised & gangSignals.leaving) !== 0) {
    return { end: "interrupted", rank: generation.rank };
  }
  return (signals & (gangSignals.leaving | gangSignals.joinerWaiting)) === 0 ? undefined : "re-form";
}

function atEpochEnd({ sampler }: TrainingPlan, { finishedSteps }: Replica): boolean {
  return finishedSteps > 0 && finishedSteps % sampler.stepsPerEpoch === 0;
}
