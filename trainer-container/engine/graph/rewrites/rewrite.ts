import type { GraphNode, Value } from "../../../../adapters/saved-model/graph-def";
import type { NarrowPrecision } from "../../../../core/runs/hyperparameters";
import { joinMicroBatches, type Rewritten } from "./batch";
import { sumInLevels, widenFactors } from "./factors";
import { fuseElementwise } from "./fuse";
import { joinProductsAndSums, useOwnPools, useOwnProducts } from "./own-operations";
import { roundProducts } from "./precision";
import { type RematerialiseOptions, rematerialise } from "./rematerialise";

interface RewriteOptions {
  readonly rematerialise: Omit<RematerialiseOptions, "recorded" | "fetched">;
  readonly gpu: boolean;
  /** See `roundProducts`. Default: nothing is rounded. */
  readonly precision?: NarrowPrecision | undefined;
  /** The micro-batches of a sum, whose rows may be computed together. Default: they are not. */
  readonly batch?: { readonly microBatches: number; readonly rows: number } | undefined;
  /** See `useOwnPools`. */
  readonly ownOperations: boolean;
  /** See `useOwnProducts`; not with a narrow precision. */
  readonly ownProducts: boolean;
  /** See `joinProductsAndSums`. Default: no. */
  readonly joinsProducts?: boolean;
}

/** Returns a faster graph with the same results up to rounding. `fetched`: values that callers read or feed. */
export function rewrite(
  nodes: readonly GraphNode[],
  fetched: readonly Value[],
  { gpu, precision, batch, ownOperations, ownProducts, joinsProducts = false, rematerialise: cutting }: RewriteOptions,
): Rewritten {
  const pooled = ownOperations ? useOwnPools(nodes, fetched) : nodes;
  const replaced = ownProducts && !precision ? useOwnProducts(pooled, fetched) : pooled;
  const fused = gpu ? replaced : fuseElementwise(replaced, fetched);
  const batched = batch && joinMicroBatches(fused, batch.microBatches, batch.rows, fetched);
  const { nodes: all, placed } = batched ?? { nodes: fused, placed: (value: Value) => value };
  const joined = joinsProducts ? joinProductsAndSums(all) : all;
  // Products of our own exist on CPUs with AVX-512, where wider factors were not measured.
  const widened = gpu || ownProducts || precision ? joined : widenFactors(joined);
  const fast = gpu ? joined : sumInLevels(widened);
  // Last: XLA leaves out a rounding and its reversal within a fused group.
  const rounded = precision ? roundProducts(fast, precision, gpu) : fast;
  if (batched) return { nodes: rounded, placed };
  return { nodes: rematerialise(rounded, { ...cutting, fetched, recorded: nodes.length }), placed };
}
