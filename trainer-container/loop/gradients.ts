import { setImmediate as nextTurn } from "node:timers/promises";
import { type GradientFormat, packedLayout } from "../../core/training/narrow-format";
import type { Feed } from "../data/feed";
import type {
  Batch,
  BatchResult,
  EnginePass,
  ModelOptimizer,
  NonFinite,
  OnFinal,
  TrainableModel,
} from "../engine/engine";
import type { LeafRange } from "../gang/gang";
import { type Add, add } from "../kernels/add";
import { addPacked, pack, unpack } from "../kernels/narrow";
import { allocateSum } from "../kernels/sum-memory";
import { canonicalAdditions } from "../reduction/plan";
import type { TrainingPlan } from "./plan";
import { addScore, type ScoreLayout } from "./score";

/** The form in which leaves are summed. A narrow format packs only the gradient: score counts must stay exact. */
interface GradientWire {
  readonly format: GradientFormat;
  readonly words: number;
  /** Addition of such vectors; undefined: float32. */
  readonly add: Add | undefined;
  /** @param scale multiplies the gradient, so that its small elements are in the format's range. */
  write(elements: Float32Array, scale: number, into: Float32Array): void;
  /** Reads the elements of a sum; the gradient is still scaled. */
  read(sum: Float32Array, into: Float32Array): void;
}

export function createGradientWire(
  format: GradientFormat,
  model: Pick<TrainableModel, "parameterCount" | "trainableCount">,
  layout: Pick<ScoreLayout, "length">,
): GradientWire {
  const elements = model.parameterCount + layout.length;
  if (format === "float32") {
    return {
      format,
      words: elements,
      add: undefined,
      write: (values, _scale, into) => into.set(values),
      read: (sum, into) => into.set(sum),
    };
  }
  const { narrow, exactFrom, words } = packedLayout(model.trainableCount, elements - model.trainableCount);
  return {
    format,
    words,
    add: (out, outAt, a, aAt, b, bAt, count, at) => {
      const packed = Math.max(0, Math.min(count, exactFrom - at));
      if (packed > 0) {
        const part = (values: Float32Array, start: number) => values.subarray(start, start + packed);
        addPacked(format, part(out, outAt), part(a, aAt), part(b, bAt));
      }
      if (packed < count) {
        add(out, outAt + packed, a, aAt + packed, b, bAt + packed, count - packed);
      }
    },
    write(values, scale, into) {
      pack(format, values.subarray(0, narrow), scale, into.subarray(0, exactFrom));
      into.set(values.subarray(narrow), exactFrom);
    },
    read(sum, into) {
      unpack(format, sum.subarray(0, exactFrom), into.subarray(0, narrow));
      into.set(sum.subarray(exactFrom), narrow);
    },
  };
}

/** Adds the scores of the leaves of a sum, as the vectors of leaves would be added. */
export function addScores(layout: ScoreLayout, results: readonly BatchResult[], into: Float32Array): void {
  const scores = results.map((result) => {
    const score = new Float32Array(layout.length);
    addScore(layout, result, score);
    return score;
  });
  for (const { into: left, from: right } of canonicalAdditions(scores.length))
    add(scores[left]!, 0, scores[left]!, 0, scores[right]!, 0, layout.length);
  into.set(scores[0]!);
}

/** Computes leaves: gradient, then score sums. A leaf depends only on (weights, seed, step, micro-batch). */
export function createLeafComputer(options: {
  readonly model: TrainableModel;
  readonly plan: TrainingPlan;
  readonly layout: ScoreLayout;
  readonly feed: Feed;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}) {
  const { model, plan, layout, feed, now } = options;
  const length = model.parameterCount + layout.length;
  const wire = createGradientWire(plan.gradientFormat, model, layout);
  /** Memory in which a leaf is computed before it is packed. */
  let elements: Float32Array | undefined;
  const pool: Float32Array[] = [];
  let dataWaitMs = 0;
  /** Factor of gradients that are rounded to the wire's form. */
  let wireScale = 1;

  const inGraph = plan.precision === "float16";
  if (inGraph && model.scaleLoss === undefined)
    throw new RangeError("precision is float16, but this model has no loss scale");

  // This text seeds draws: in other words, they would have other bits.
  const keyOf = (step: number, microBatch: number): string => `seed ${plan.seed} step ${step} microshard ${microBatch}`;

  const begin = async (step: number, range: LeafRange, part: LeafRange): Promise<BegunPass> => {
    const pass = model.begin(part.end - part.first);
    let rows = 0;
    for (let microBatch = part.first; microBatch < part.end; microBatch += 1) {
      const batch = await nextBatch(step, microBatch, range);
      rows += batch.rows;
      pass.add(batch, keyOf(step, microBatch));
    }
    return { pass, rows };
  };

  const fits = (sizes: readonly number[]): boolean =>
    wire.format === "float32" && sizes.every((size) => size <= model.maxSum);

  const nextBatch = async (step: number, microBatch: number, range: LeafRange): Promise<Batch> => {
    const startedAt = now();
    const batch = await feed.microBatch(step, microBatch, range);
    dataWaitMs += now() - startedAt;
    return batch;
  };

  const memoryOf = (index: number): Float32Array => {
    const memory = pool[index] ?? allocateSum(wire.words);
    pool[index] = memory;
    return memory;
  };

  return {
    /** Number of elements of a leaf. */
    length,
    /** The form in which leaves are summed. */
    wire,
    /** Milliseconds spent waiting for data since the start. */
    dataWaitMs: () => dataWaitMs,
    /** Sets the factor of gradients that are rounded to float16, from the next computation on. */
    scaleLoss(scale: number): void {
      if (inGraph) model.scaleLoss?.(scale);
      else wireScale = scale;
    },
    /** Gathers the next step's data between two steps, if this thread does it. */
    ahead(step: number, range: LeafRange): void {
      if (step < plan.totalSteps) feed.ahead?.(step, range);
    },
    /** Finds in which of the micro-batches, and where, the loss or a gradient stops being finite. */
    async explainNonFinite(step: number, range: LeafRange): Promise<NonFinite | undefined> {
      for (let microBatch = range.first; microBatch < range.end; microBatch += 1) {
        const batch = await nextBatch(step, microBatch, range);
        const explanation = model.explainNonFinite(batch, keyOf(step, microBatch));
        if (explanation) return explanation;
      }
      return undefined;
    },
    /** Begins a pass over all leaves, for the optimizer's step. @returns undefined if the optimizer does not take it */
    async beginStep(
      optimizer: Pick<ModelOptimizer, "takesPasses">,
      step: number,
      range: LeafRange,
    ): Promise<BegunPass | undefined> {
      if (!optimizer.takesPasses || !fits([range.end - range.first])) return undefined;
      const begun = await begin(step, range, range);
      await nextTurn(); // the step blocks the thread; sockets, leases and signals run here
      return begun;
    },
    /**
     * Computes the leaves of `range` in the wire's form, or in their place the sums of `subtrees` with the same bits, if the
     * engine can. Their memory is reused in the next call.
     *
     * @param lost checked after each call of the engine, and thrown: survivors of a loss are back before the step's end
     * @param beforeLast gets all leaves before the last one is computed. Its result gets the final elements of the last one.
     *   Not called for sums, or if the wire's form differs from the computed one.
     */
    async compute(
      step: number,
      range: LeafRange,
      {
        subtrees = [],
        lost = () => undefined,
        beforeLast = () => undefined,
      }: {
        readonly subtrees?: readonly LeafRange[] | undefined;
        readonly lost?: () => Error | undefined;
        readonly beforeLast?: (leaves: readonly Float32Array[]) => OnFinal | undefined;
      } = {},
    ): Promise<readonly Float32Array[]> {
      const sizes = subtrees.map(({ first, end }) => end - first);
      const asSums = fits(sizes) && sizes.some((size) => size > 1);
      const single = (_: unknown, index: number) => ({ first: range.first + index, end: range.first + index + 1 });
      const parts = asSums ? subtrees : Array.from({ length: range.end - range.first }, single);
      const computed: Float32Array[] = [];
      for (const part of parts) {
        const summed = memoryOf(computed.length);
        if (wire.format !== "float32") elements ??= allocateSum(length);
        const leaf = elements ?? summed;
        const { pass } = await begin(step, range, part);
        const isLast = part === parts.at(-1) && leaf === summed && !asSums;
        const onFinal = isLast ? beforeLast([...computed, summed]) : undefined;
        const results = pass.gradients(leaf.subarray(0, model.parameterCount), onFinal);
        addScores(layout, results, leaf.subarray(model.parameterCount));
        if (leaf !== summed) wire.write(leaf, wireScale, summed);
        computed.push(summed);
        await nextTurn(); // gradients block the thread; sockets, leases and signals run here
        const loss = lost();
        if (loss) throw loss;
      }
      return computed;
    },
  };
}

export interface BegunPass {
  readonly pass: EnginePass;
  readonly rows: number;
}

export type LeafComputer = ReturnType<typeof createLeafComputer>;
