import * as tf from "@tensorflow/tfjs-core";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { withinScope } from "../../../trainer-container/engine/tensor-scope";

describe("withinScope", () => {
  beforeAll(() => createEngine({ preferred: "wasm", threads: 1 }));

  it("disposes the tensors of its body, also if the body throws", () => {
    const { numTensors } = tf.memory();
    expect(withinScope(() => tf.add(1, 2).dataSync()[0])).toBe(3);
    expect(() =>
      withinScope(() => {
        tf.zeros([2]);
        throw new Error("no result");
      }),
    ).toThrow("no result");
    expect(tf.memory().numTensors).toBe(numTensors);
  });

  it("does not search the result, which may be a typed array of millions of values", () => {
    const searched = jest.fn((target: object) => Reflect.ownKeys(target));
    const result = new Proxy({}, { ownKeys: searched });
    expect(withinScope(() => result)).toBe(result);
    expect(searched).not.toHaveBeenCalled();
  });
});
