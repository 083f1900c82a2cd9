import type { Value } from "../../../adapters/saved-model/graph-def";
import type { NarrowPrecision } from "../../../core/runs/hyperparameters";
import { hasOwnOperations, hasOwnProducts } from "../native/own-operations";
import type { NativeBinding } from "../native-binding";
import { namesOf } from "./loaded-graph";
import type { GraphOptimizer } from "./optimizer";
import type { Recorded } from "./pass-recorder";
import type { Pass, WrittenNodes } from "./pass-runner";
import type { Recording } from "./recorder";
import { rewrite } from "./rewrites/rewrite";
import type { GraphSession } from "./session";
import type { Staging } from "./staging";
import { unshaped } from "./update";

interface LoadOptions {
  /** See `roundProducts`. Default: nothing is rounded. */
  readonly precision?: NarrowPrecision | undefined;
  /** Whether the rows of a sum's micro-batches are computed together. Default true. */
  readonly batched?: boolean;
  /** See `joinProductsAndSums`. Default false. */
  readonly joinsProducts?: boolean;
  /** See `RematerialiseOptions`. Default: none. */
  readonly cuts?: readonly number[];
}

/** Adds recorded passes to a session, whose variables replace the recorded weights. */
export class PassLoader {
  /** Takes its steps in passes that are loaded from now on. */
  optimizer: GraphOptimizer | undefined;
  private readonly gpu: boolean;
  private readonly ownOperations: boolean;
  private readonly ownProducts: boolean;

  constructor(
    binding: NativeBinding,
    private readonly session: GraphSession,
    /** Handle of each slot of the layout. */
    private readonly handles: readonly Value[],
    private readonly parameters: number,
  ) {
    this.gpu = binding.isUsingGpuDevice();
    this.ownOperations = hasOwnOperations(binding);
    this.ownProducts = hasOwnProducts(binding);
  }

  /** Returns the pass, or TensorFlow's reason for a refusal. */
  load(
    staging: Staging,
    recording: Recording<Recorded>,
    { precision, batched = true, joinsProducts = false, cuts = [] }: LoadOptions = {},
  ): Pass | Error {
    const { session, handles, optimizer } = this;
    const { placeholders, result } = recording;
    const { microBatches, rows, kind } = staging.shape;
    return session.extend((builder) => {
      const fetched = [...result.outputs, ...(optimizer ? result.gradients : [])];
      const { nodes, placed: rewritten } = rewrite(recording.nodes, [...placeholders, ...fetched], {
        gpu: this.gpu,
        precision,
        ownOperations: this.ownOperations,
        ownProducts: this.ownProducts,
        joinsProducts: joinsProducts && this.ownProducts,
        rematerialise: { forward: result.outputs.slice(0, 1), backward: result.gradients, cuts },
        batch: batched && microBatches > 1 ? { microBatches, rows } : undefined,
      });
      const inputs = placeholders.slice(0, -handles.length);
      const weights = placeholders.slice(-handles.length).map(rewritten);
      const reads = weights.map(({ node }, slot) => [node, session.variables.reading(handles[slot] as Value)] as const);
      const appended = builder.append(nodes, new Map(reads));
      const placed = (value: Value): Value => appended(rewritten(value));
      const outputs = result.outputs.map(placed);
      const [numbers, gradient] = outputs as [Value, Value?];
      const step =
        kind === "gradients" && optimizer
          ? optimizer.addStep(numbers, microBatches, result.gradients.map(placed))
          : undefined;
      return {
        staging,
        metrics: result.metrics,
        inputs: namesOf(inputs.map(placed)),
        outputs: namesOf(outputs),
        written: gradient && this.addWrite(numbers, gradient, result.gradients.map(placed)),
        step,
      };
    });
  }

  /** Adds nodes that write the gradient to memory of the caller. @param parts the gradient's, by slot of the layout */
  private addWrite(numbers: Value, gradient: Value, parts: readonly Value[]): WrittenNodes {
    const { builder } = this.session;
    const into = builder.placeholder([1, this.parameters]);
    const written = this.ownOperations
      ? builder.add("RingmasterWrite", [into, ...parts.map((part) => unshaped(builder.nodes, part))], {
          N: { kind: "int", value: parts.length },
        })
      : builder.add("InplaceUpdate", [into, builder.integers([0]), gradient]);
    return { input: namesOf([into]), outputs: namesOf([numbers, written]) };
  }
}
