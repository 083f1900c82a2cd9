import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type GraphNode, referenceTo, savedModel, tag, type Value } from "../../../core/saved-model/graph-def";
import type { TensorId } from "../native/operations";
import type { NativeBinding } from "../native-binding";

/** A graph that TensorFlow holds and runs. */
export class LoadedGraph {
  private readonly id: number;
  private readonly inputNames: string;
  private readonly outputNames: string;

  /** @throws if TensorFlow refuses the graph */
  constructor(
    private readonly binding: NativeBinding,
    nodes: readonly GraphNode[],
    inputs: readonly Value[],
    outputs: readonly Value[],
  ) {
    const folder = mkdtempSync(path.join(os.tmpdir(), "ringmaster-graph-"));
    try {
      writeFileSync(path.join(folder, "saved_model.pb"), savedModel(nodes));
      this.id = binding.loadSavedModel(folder, tag);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    this.inputNames = inputs.map(referenceTo).join();
    this.outputNames = outputs.map(referenceTo).join();
  }

  /** Returns new tensors, in the order of the outputs. */
  run(inputs: readonly TensorId[]): readonly TensorId[] {
    return this.binding.runSavedModel(this.id, inputs, this.inputNames, this.outputNames).map(({ id }) => id);
  }

  dispose(): void {
    this.binding.deleteSavedModel(this.id);
  }
}
