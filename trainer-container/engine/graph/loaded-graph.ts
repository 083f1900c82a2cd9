import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type GraphNode, referenceTo, savedModel, tag, type Value } from "../../../adapters/saved-model/graph-def";
import type { TensorId } from "../native/operations";
import type { NativeBinding } from "../native-binding";

/** Returns values as `LoadedGraph.run` takes them. */
export const namesOf = (values: readonly Value[]): string => values.map(referenceTo).join();

/** A graph that TensorFlow holds and runs. */
export class LoadedGraph {
  private readonly id: number;

  /** @throws if TensorFlow refuses the graph */
  constructor(
    private readonly binding: NativeBinding,
    nodes: readonly GraphNode[],
  ) {
    const folder = mkdtempSync(path.join(os.tmpdir(), "ringmaster-graph-"));
    try {
      writeFileSync(path.join(folder, "saved_model.pb"), savedModel(nodes));
      this.id = binding.loadSavedModel(folder, tag);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Returns new tensors, in the order of the outputs. */
  run(inputNames: string, inputs: readonly TensorId[], outputNames: string): readonly TensorId[] {
    return this.binding.runSavedModel(this.id, inputs, inputNames, outputNames).map(({ id }) => id);
  }

  dispose(): void {
    this.binding.deleteSavedModel(this.id);
  }
}
