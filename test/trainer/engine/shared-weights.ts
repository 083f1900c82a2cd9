/** Weights that a model shares with its owner: the bits are those of a copy, and nobody else's weights end up in that memory. */

import type { MlpDefinition } from "../../../core/runs/model-definition";
import type { Engine, TrainableModel } from "../../../trainer-container/engine/engine";
import { allocateSum, releaseSum } from "../../../trainer-container/kernels/sum-memory";
import { mlp, randomBatch } from "./contract";
import { gradientsOf, modelsOf } from "./models-of";

/** The second layer begins on a cache line, the third does not. */
const definition: MlpDefinition = { ...mlp, inputShape: [16], hidden: [32, 5], activation: "relu" };

export function describeSharedWeights(start: () => Promise<Engine>): void {
  describe("shared weights", () => {
    const batch = randomBatch(definition, 7);
    const models = modelsOf(start, 3);
    const create = () => models.create(definition);
    const gradientOf = (model: TrainableModel): string => {
      const into = new Float32Array(model.parameterCount);
      gradientsOf(model, batch, "k", into);
      return Buffer.from(into.buffer).toString("hex");
    };
    const valuesOf = (model: TrainableModel, salt: number) =>
      Float32Array.from({ length: model.parameterCount }, (_, i) => Math.sin(i + salt) / 3);

    it.each([
      ["memory of sums", (length: number) => allocateSum(length)],
      ["memory of sums, on no cache line", (length: number) => allocateSum(length + 1).subarray(1)],
      ["the heap", (length: number) => new Float32Array(length)],
    ])("compute as copied ones, in %s", async (_, allocate) => {
      const [sharing, copying] = [await create(), await create()];
      const weights = allocate(sharing.parameterCount);
      weights.set(valuesOf(sharing, 0));
      sharing.shareWeights(weights);
      for (const salt of [0, 1, 2]) {
        weights.set(valuesOf(sharing, salt));
        sharing.writeWeights(weights);
        copying.writeWeights(weights);
        expect(gradientOf(sharing)).toBe(gradientOf(copying));
        expect(sharing.evaluate(batch)).toEqual(copying.evaluate(batch));
        const read = new Float32Array(weights.length);
        sharing.readWeights(read);
        expect(read).toEqual(valuesOf(sharing, salt));
      }
      releaseSum(weights);
    });

    it("stay as they are when others are written", async () => {
      const [sharing, copying] = [await create(), await create()];
      const weights = allocateSum(sharing.parameterCount);
      weights.set(valuesOf(sharing, 0));
      sharing.shareWeights(weights);
      for (const model of [sharing, copying]) model.writeWeights(valuesOf(model, 4));
      expect(gradientOf(sharing)).toBe(gradientOf(copying));
      expect(weights.slice()).toEqual(valuesOf(sharing, 0));
      weights.fill(9);
      expect(gradientOf(sharing)).toBe(gradientOf(copying));
    });
  });
}
