import type { ModuleDefinition } from "../../../core/runs/model-definition";
import { createSplitBlocks } from "../../../trainer-container/data/direct-feed";
import type { ModelContext } from "../../../trainer-container/engine/define-training";
import type { Engine, TrainableModel } from "../../../trainer-container/engine/engine";
import { FakeGang } from "./fake-gang";
import { classes, createWorker, features, run, syntheticSplit, type taskOf, type Worker } from "./in-process";

type Layers = ModelContext["tf"]["layers"];
export type Symbolic = ReturnType<ModelContext["tf"]["input"]>;
type Layer = Pick<ReturnType<Layers["dense"]>, "apply">;

export const through = (x: Symbolic, ...parts: Layer[]): Symbolic =>
  parts.reduce((value, layer) => layer.apply(value) as Symbolic, x);

/** @param build returns what the last dense layer reads */
export function moduleOf(build: (layers: Layers, input: Symbolic) => Symbolic): ModuleDefinition {
  const factory = ({ tf, inputShape, outputs }: ModelContext) => {
    const input = tf.input({ shape: [...inputShape] });
    return tf.model({ inputs: input, outputs: through(build(tf.layers, input), tf.layers.dense({ units: outputs })) });
  };
  const shape = { inputShape: [features], outputs: classes, task: "classification" } as const;
  return { type: "module", ...shape, factory } as unknown as ModuleDefinition;
}

/** Two sequences with masks of their own, joined before a recurrent layer. */
export const joinedMasks = moduleOf((layers, input) => {
  const steps = () => [layers.dense({ units: 6, activation: "relu" }), layers.reshape({ targetShape: [3, 2] })];
  const parts = [0, 1].map(() =>
    through(input, ...steps(), layers.masking({ maskValue: 0 }), layers.dense({ units: 3 })),
  );
  return through(layers.add().apply(parts) as Symbolic, layers.lstm({ units: 4 }));
});

/**
 * Trains a gang to its end, without validation, which changes no replica.
 *
 * @param created receives the models, for the caller to dispose of
 * @param killed a member that is lost after three steps
 */
export async function trainOn(
  engine: Engine,
  definition: ModuleDefinition,
  task: ReturnType<typeof taskOf>,
  world: number,
  created: TrainableModel[],
  killed?: string,
): Promise<Worker[]> {
  const ids = Array.from({ length: world }, (_, rank) => `member-${rank}`);
  const gang = new FakeGang(task.microBatches, ids);
  if (killed) gang.faults.set(3, { kill: killed });
  const workers: Worker[] = [];
  for (const id of ids) {
    const model = await engine.createModel(definition, task.seed);
    created.push(model);
    const worker = createWorker(gang.member(id), task, model);
    workers.push({ ...worker, training: { ...worker.training, validation: createSplitBlocks(syntheticSplit(0), 16) } });
  }
  const survivors = workers.filter((_, rank) => ids[rank] !== killed);
  for (const worker of workers) if (!survivors.includes(worker)) run(worker).catch(() => undefined);
  await Promise.all(survivors.map(run));
  return survivors;
}
