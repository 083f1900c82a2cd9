import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { TrainableModel } from "../../../trainer-container/engine/engine";
import { digest, taskOf } from "./in-process";
import { joinedMasks, trainOn } from "./module-worlds";

it("a user's model with joined masks has one state on WebAssembly, to the bit, on 1 worker and on 3", async () => {
  const engine = await createEngine({ preferred: "wasm", threads: 1 });
  const task = taskOf({ backend: "wasm", microBatches: 6 }, { batchSize: 12, epochs: 1, learningRate: 0.001 });
  const created: TrainableModel[] = [];
  const states = new Set<string>();
  for (const world of [1, 3]) {
    const survivors = await trainOn(engine, joinedMasks, task, world, created, world === 3 ? "member-1" : undefined);
    for (const { replica } of survivors) states.add(digest(replica));
  }
  for (const model of created) model.dispose();
  expect(states.size).toBe(1);
});
