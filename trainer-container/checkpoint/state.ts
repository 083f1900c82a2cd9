import { digestOf } from "../../core/digest";
import type { TrainingIdentity } from "../../core/training/checkpoint/manifest";
import type { ParameterSlot, TrainableModel } from "../engine/engine";
import type { TrainingPlan } from "../loop/plan";
import type { Replica } from "../loop/replica";
import { tensorGroups } from "./tensor-groups";

/** One buffer of a checkpoint and its parameters. */
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
  const slots = Object.entries(replica.optimizer.state).sort(([a], [b]) => (a < b ? -1 : 1));
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
