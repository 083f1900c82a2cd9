import type { NarrowPrecision } from "../../../../core/runs/hyperparameters";
import type { GraphNode, Value } from "../../../../core/saved-model/graph-def";
import { sumInLevels } from "./column-sums";
import { fuseElementwise } from "./fuse";
import { roundProducts } from "./precision";

export interface RewriteOptions {
  readonly gpu: boolean;
  /** See `roundProducts`. Default: nothing is rounded. */
  readonly precision?: NarrowPrecision | undefined;
}

/**
 * Returns a faster graph with the same results up to rounding. Recorded nodes keep their positions.
 *
 * @param nodes each after its inputs
 * @param fetched values that callers read
 */
export function rewrite(
  nodes: readonly GraphNode[],
  fetched: readonly Value[],
  { gpu, precision }: RewriteOptions,
): readonly GraphNode[] {
  const fast = gpu ? nodes : sumInLevels(fuseElementwise(nodes, fetched));
  // Last: XLA leaves out a rounding and its reversal within a fused group.
  return precision ? roundProducts(fast, precision, gpu) : fast;
}
