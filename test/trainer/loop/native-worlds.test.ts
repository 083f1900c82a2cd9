/** Models with dropout or masks, trained natively by any number of workers. */
import type { ModuleDefinition } from "../../../core/runs/model-definition";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { Execution, TrainableModel } from "../../../trainer-container/engine/engine";
import { findBinding } from "../../../trainer-container/engine/native-binding";
import { digest, taskOf } from "./in-process";
import { joinedMasks, moduleOf, type Symbolic, through, trainOn } from "./module-worlds";

const transformer = (time: number, width: number): ModuleDefinition =>
  moduleOf((layers, input) => {
    const add = (x: Symbolic, part: Symbolic) => layers.add().apply([x, part]) as Symbolic;
    const x = through(
      input,
      layers.dense({ units: time * width }),
      layers.reshape({ targetShape: [time, width] }),
      layers.positionalEmbedding(),
    );
    const attention = layers.multiHeadAttention({ heads: 2, causal: true, dropout: 0.1 });
    const seen = add(x, through(x, layers.layerNormalization(), attention, layers.dropout({ rate: 0.1 })));
    const hidden = [layers.dense({ units: 4 * width }), layers.gelu(), layers.dropout({ rate: 0.1 })];
    const body = through(seen, layers.layerNormalization(), ...hidden, layers.dense({ units: width }));
    return through(add(seen, body), layers.globalAveragePooling1d({}));
  });

const residual = moduleOf((layers, input) => {
  const convolution = () => layers.conv2d({ filters: 4, kernelSize: 3, padding: "same", useBias: false });
  const x = through(input, layers.dense({ units: 256 }), layers.reshape({ targetShape: [8, 8, 4] }), convolution());
  const inner = [layers.batchNormalization({ momentum: 0.5 }), layers.reLU(), layers.dropout({ rate: 0.1 })];
  const block = through(x, convolution(), ...inner, convolution(), layers.layerNormalization());
  const sum = layers.add().apply([x, block]) as Symbolic;
  return through(sum, layers.maxPooling2d({ poolSize: 2 }), layers.flatten());
});

/** `RINGMASTER_ALL_WORLDS=1` trains each model on all numbers of workers; otherwise on those that are listed first. */
const allWorlds = process.env["RINGMASTER_ALL_WORLDS"] === "1";
const worldsOf = (some: readonly number[], more: readonly number[]) => (allWorlds ? [...some, ...more] : some);
/** Cases of which others show a part: the masks on WebAssembly, the network with its micro-batches together. */
const campaign = <T>(cases: readonly T[]): readonly T[] => (allWorlds ? cases : []);

const suite = findBinding("cpu") ? describe : describe.skip;

suite("a user's model", () => {
  const executions: Execution[] = [];
  const created: TrainableModel[] = [];
  const taskWith = (batchSize: number, epochs: number) =>
    taskOf({ backend: "native", microBatches: 8 }, { batchSize, epochs, learningRate: 0.001 });

  afterEach(() => {
    executions.length = 0;
    for (const model of created.splice(0)) model.dispose();
  });

  it.each([
    {
      name: "a transformer with class weights",
      definition: { ...transformer(6, 8), classWeights: [0.5, 3, 1] },
      batchSize: 16,
      worlds: worldsOf([3], [2, 8]),
    },
    { name: "a transformer of tensors that are fused", definition: transformer(64, 128), batchSize: 16, worlds: [2] },
    ...campaign([
      { name: "joined masks", definition: joinedMasks, batchSize: 16, worlds: [2, 3] },
      { name: "a residual network", definition: residual, batchSize: 16, worlds: [2, 3, 8] },
    ]),
    {
      name: "a residual network, micro-batches together",
      definition: residual,
      batchSize: 128,
      worlds: worldsOf([3], [2]),
    },
  ])("has one state, to the bit, on any number of workers: $name", async ({ definition, batchSize, worlds }) => {
    const [epochs, steps] = batchSize === 16 ? [1, 6] : [5, 5];
    const task = taskWith(batchSize, epochs);
    const onExecution = (execution: Execution) => executions.push(execution);
    const engine = await createEngine({ preferred: "native", threads: 1, onExecution });
    const states = (await trainOn(engine, definition, task, 1, created)).map(({ replica }) => digest(replica));
    expect(executions.filter(({ pass }) => pass === "gradients").map(({ engine }) => engine)).toEqual(["graph"]);
    for (const world of worlds) {
      const survivors = await trainOn(engine, definition, task, world, created, world === 3 ? "member-1" : undefined);
      expect(survivors.map(({ outcomes }) => outcomes.length)).toEqual(survivors.map(() => steps));
      states.push(...survivors.map(({ replica }) => digest(replica)));
    }
    expect(new Set(states).size).toBe(1);
  });
});
