import { createBatch } from "../../trainer-container/data/direct-feed";
import type { Feed } from "../../trainer-container/data/feed";
import type { Batch } from "../../trainer-container/engine/engine";
import { seededRandom } from "../../trainer-container/engine/seeded-random";
import { batchesInMemory } from "./models";
import { vocabularyOf } from "./modules";
import type { Setup } from "./protocol";

export function memoryFeed({
  model,
  batchSize,
  microBatches,
}: Pick<Setup, "model" | "batchSize" | "microBatches">): Feed {
  const rows = batchSize / microBatches;
  const width = model.inputShape.reduce((product, side) => product * side, 1);
  const random = seededRandom("bench");
  const vocabularies = Array.from({ length: width }, (_, column) => vocabularyOf(model, column));
  const value = (column: number): number => {
    const ids = vocabularies[column]!;
    return ids ? Math.floor(random() * ids) : random();
  };
  const batches = Array.from({ length: batchesInMemory * microBatches }, (): Batch => {
    const batch = createBatch(rows, width, new Int32Array(rows));
    for (let i = 0; i < batch.inputs.length; i += 1) batch.inputs[i] = value(i % width);
    for (let i = 0; i < rows; i += 1) batch.labels[i] = Math.floor(random() * model.outputs);
    return batch;
  });
  return {
    microBatch: (step, index) => batches[(step % batchesInMemory) * microBatches + index]!,
    close: async () => undefined,
  };
}
