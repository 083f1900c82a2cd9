import type { ModelDefinition } from "../../../core/runs/model-definition";
import { drawKey } from "../draws";
import type { Batch } from "../engine";
import { checkClasses, weightOf } from "../score";
import type { PassShape } from "./passes";

/** The values of a pass's inputs. Its memory is used again in each call. */
export class Staging {
  readonly inputs: Float32Array;
  readonly labels: Float32Array | Int32Array;
  readonly weight: Float32Array;
  readonly keys: Int32Array;
  readonly weights: Float32Array | undefined;
  /** Number of microshards that it holds. */
  filled = 0;

  constructor(
    private readonly definition: ModelDefinition,
    readonly shape: PassShape,
  ) {
    const { microshards, rows, weighted } = shape;
    const { inputShape, outputs, task } = definition;
    const total = microshards * rows;
    this.inputs = new Float32Array(inputShape.reduce((product, side) => product * side, total));
    const Labels = task === "classification" ? Int32Array : Float32Array;
    this.labels = new Labels(task === "regression" ? total * outputs : total);
    this.weight = new Float32Array(microshards);
    this.keys = new Int32Array(2 * microshards);
    this.weights = weighted ? new Float32Array(total) : undefined;
  }

  /** @throws BatchError for a label that is not a class */
  add(batch: Batch, randomKey: string): void {
    const { definition, filled } = this;
    if (definition.task === "classification") checkClasses(definition, batch.labels);
    this.inputs.set(batch.inputs, filled * batch.inputs.length);
    this.labels.set(batch.labels, filled * batch.labels.length);
    this.weight[filled] = weightOf(batch);
    this.keys.set(drawKey(randomKey), 2 * filled);
    if (batch.weights) this.weights?.set(batch.weights, filled * batch.rows);
    this.filled += 1;
  }

  /** Takes one microshard of another staging instead of its own. */
  copy(other: Staging, index: number): void {
    const { inputs, labels } = other.batch(index);
    this.inputs.set(inputs);
    this.labels.set(labels);
    this.weight.set(other.weight.subarray(index, index + 1));
    this.keys.set(other.keys.subarray(2 * index, 2 * index + 2));
  }

  /** Returns one microshard. Its arrays are valid until the next call. */
  batch(index: number): Batch {
    const { rows, microshards } = this.shape;
    const part = <T extends Float32Array | Int32Array>(values: T): T => {
      const length = values.length / microshards;
      return values.subarray(index * length, (index + 1) * length) as T;
    };
    return {
      rows,
      inputs: part(this.inputs),
      labels: part(this.labels),
      ...(this.weights === undefined ? {} : { weights: part(this.weights) }),
    };
  }
}
