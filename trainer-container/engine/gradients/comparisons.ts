import * as tf from "@tensorflow/tfjs-core";

/** Operations whose results are not continuous. */
const cutting: ReadonlySet<string> = new Set([
  tf.Less,
  tf.LessEqual,
  tf.Greater,
  tf.GreaterEqual,
  tf.Equal,
  tf.NotEqual,
  tf.LogicalAnd,
  tf.LogicalOr,
  tf.LogicalNot,
  tf.IsNan,
  tf.IsInf,
  tf.IsFinite,
  tf.ArgMax,
  tf.ArgMin,
  tf.FloorDiv,
  tf.Multinomial,
  tf.SearchSorted,
]);

/**
 * Lets no gradient flow through comparisons, as in PyTorch and TensorFlow: `tf.where(tf.less(error, 1), a, b)` has the
 * gradients of `a` and `b`. TensorFlow.js refuses to differentiate them, but gives `floorDiv` the gradients of a division.
 * A loss that depends on the weights through comparisons alone is still refused.
 */
export function cutAtComparisons(): void {
  type Rest = readonly [
    inputs: unknown,
    outputs: unknown,
    gradient: unknown,
    saved?: readonly tf.Tensor[],
    ...unknown[],
  ];
  const engine = tf.engine() as unknown as { addTapeNode(kernel: string, ...rest: Rest): void };
  const { addTapeNode } = engine;
  engine.addTapeNode = function (kernel, ...rest) {
    if (!cutting.has(kernel)) return addTapeNode.call(this, kernel, ...rest);
    // The tape, which does not get them, would dispose of them at its end.
    for (const tensor of rest[3] ?? []) tensor.dispose();
  };
}
