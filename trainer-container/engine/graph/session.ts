import type { GraphNode, Value } from "../../../adapters/saved-model/graph-def";
import type { TensorId } from "../native/operations";
import type { NativeBinding } from "../native-binding";
import { GraphBuilder } from "./builder";
import { LoadedGraph } from "./loaded-graph";
import { Variables } from "./variables";

/** A graph that grows, and its variables. TensorFlow holds it as a whole, because only one graph's nodes share variables. */
export class GraphSession {
  readonly builder = new GraphBuilder();
  readonly variables: Variables;
  private graph: LoadedGraph | undefined;
  /** Nodes of `graph`. */
  private loaded: readonly GraphNode[] = [];

  constructor(private readonly binding: NativeBinding) {
    this.variables = new Variables(binding, this.builder);
  }

  /**
   * Adds nodes, but no variables.
   *
   * @returns what `add` returns, or TensorFlow's reason for a refusal; then nothing was added
   */
  extend<T>(add: (builder: GraphBuilder) => T): T | Error {
    const { length } = this.builder.nodes;
    try {
      const added = add(this.builder);
      this.load();
      return added;
    } catch (error) {
      this.builder.truncate(length);
      return new Error(`TensorFlow refuses its graph: ${(error as Error).message}`);
    }
  }

  /** Runs nodes with the newest variables. @returns new tensors, in the order of the outputs */
  run(inputNames: string, inputs: readonly TensorId[], outputNames: string): readonly TensorId[] {
    const graph = this.load();
    this.variables.push(graph);
    return graph.run(inputNames, inputs, outputNames);
  }

  /** Makes the memory of the newest variables available to `NativeBinding.adam`. See `Variables.hold`. */
  hold(handles: readonly Value[]): number {
    const graph = this.load();
    this.variables.push(graph);
    return this.variables.hold(graph, handles);
  }

  /** See `Variables.pull`. */
  pull(): void {
    if (this.graph) this.variables.pull(this.graph);
  }

  private load(): LoadedGraph {
    const { nodes } = this.builder;
    // Nodes are added and removed at the end.
    if (this.graph && this.loaded.length === nodes.length && this.loaded.at(-1) === nodes.at(-1)) return this.graph;
    const next = new LoadedGraph(this.binding, nodes);
    this.pull();
    this.graph?.dispose();
    this.graph = next;
    this.loaded = [...nodes];
    this.variables.hostChanged();
    return next;
  }

  dispose(): void {
    this.variables.release();
    this.graph?.dispose();
    this.graph = undefined;
  }
}
