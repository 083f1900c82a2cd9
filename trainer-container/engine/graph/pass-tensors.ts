import type { GraphNode } from "../../../adapters/saved-model/graph-def";
import { RecordingDiffers } from "../errors";
import type { NativeBinding } from "../native-binding";
import type { Created, TensorFunctions } from "./interception";

/** The tensors of a pass while it is recorded. */
export interface PassTensors extends TensorFunctions {
  /** Ends a segment of the forward pass, see `RecomputedTensors`. @param outputs its tensors that the next segments read */
  endSegment(outputs: readonly number[]): void;
  /** Ends the pass. @returns whether TensorFlow.js holds a tensor that is freed */
  finish(): boolean;
}

/** Tensors without values, for a pass that must repeat expected nodes: they have the shapes that are expected. */
export class ShapesOnly implements PassTensors {
  /** The last number of a tensor. TensorFlow's numbers are positive. */
  private last = -1;

  /** @param next returns the node that the next operation should be */
  constructor(
    private readonly binding: NativeBinding,
    private readonly next: () => GraphNode | undefined,
  ) {}

  createTensor(): number {
    this.last -= 1;
    return this.last;
  }

  executeOp(): readonly Created[] {
    const outputs = this.next()?.outputs ?? [];
    return outputs.map(({ type, shape }) => ({ id: this.createTensor(), dtype: type, shape: [...shape] }));
  }

  /** @throws RecordingDiffers always */
  tensorDataSync(): never {
    throw new RecordingDiffers();
  }

  deleteTensor(id: number): void {
    if (id >= 0) this.binding.deleteTensor(id);
  }

  endSegment(): void {}

  finish(): boolean {
    return false;
  }
}
