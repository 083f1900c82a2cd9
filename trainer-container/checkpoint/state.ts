import { digestOf } from "../../core/digest";
import type { TrainingIdentity } from "../../core/training/checkpoint/manifest";
import type { ParameterSlot, TrainableModel } from "../engine/engine";
import type { TrainingPlan } from "../loop/plan";
import type { Replica } from "../loop/replica";

/** A parameter's position in a flat buffer, in elements. */
interface Slot {
  readonly name: string;
  readonly shape: readonly number[];
  readonly offset: number;
  readonly size: number;
}

const bytesPerElement = 4;

/**
 * Groups neighbouring parameters of at least `minimumBytes` into objects: a frozen layer is not sent again because
 * another changed, and a thousand layers do not cost a thousand requests.
 */
export function tensorGroups<S extends Slot>(
  layout: readonly S[],
  minimumBytes: number = 4 * 1024 * 1024,
): readonly (readonly S[])[] {
  const groups: S[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const slot of layout) {
    if (bytes >= minimumBytes) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(slot);
    bytes += slot.size * bytesPerElement;
  }
  return groups;
}

export interface StateBuffer {
  /** `weights`, `optimizer/<slot>`, or `best/weights` with early stopping. */
  readonly name: string;
  readonly values: Float32Array;
  readonly groups: readonly (readonly ParameterSlot[])[];
}

/** Returns the replica's live buffers by name. Optimizer slots hold only the trainable parameters. */
export function stateBuffers(replica: Replica, layout: readonly ParameterSlot[]): readonly StateBuffer[] {
  const all = tensorGroups(layout);
  const trainable = tensorGroups(layout.filter((slot) => slot.trainable));
  const slots = Object.entries(replica.slots).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    { name: "weights", values: replica.weights, groups: all },
    ...slots.map(([name, values]) => ({ name: `optimizer/${name}`, values, groups: trainable })),
    ...(replica.best ? [{ name: "best/weights", values: replica.best.weights, groups: all }] : []),
  ];
}

export function identityOf(plan: TrainingPlan, model: TrainableModel): TrainingIdentity {
  return {
    seed: plan.seed,
    microBatches: plan.microBatches,
    batchSize: plan.batchSize,
    layout: digestOf(model.layout.map(({ name, shape, trainable }) => [name, shape, trainable])),
    optimizer: plan.optimizer.type,
    gradientFormat: plan.gradientFormat,
    ...(plan.precision === undefined ? {} : { precision: plan.precision }),
  };
}
