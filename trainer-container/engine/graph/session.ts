import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type GraphNode, referenceTo, savedModel, tag, type Value } from "../../../adapters/saved-model/graph-def";
import { attributesOf, Operations, type TensorId } from "../native/operations";
import type { NativeBinding } from "../native-binding";
import { floatType, GraphBuilder } from "./builder";

/** Returns values as `LoadedGraph.run` takes them. */
export const namesOf = (values: readonly Value[]): string => values.map(referenceTo).join();

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

interface Variable {
  readonly handle: Value;
  readonly shape: readonly number[];
  readonly placeholder: Value;
  readonly content: Value;
  /** Returns the present memory of the values. */
  readonly host: () => Float32Array;
}

/** Float32 variables that stay in TensorFlow's memory from call to call. JavaScript's copy is read and written on demand. */
export class Variables {
  private readonly all: Variable[] = [];
  /** Nodes that report that all variables of a call of `add` have been written. */
  private readonly written: Value[] = [];
  /** See `hold`. */
  private held: number | undefined;
  /** Place of the newest values. */
  private newest: "host" | "graph" | "both" = "host";

  constructor(
    private readonly binding: NativeBinding,
    private readonly builder: GraphBuilder,
  ) {}

  add(
    variables: readonly {
      readonly name: string;
      readonly shape: readonly number[];
      readonly host: () => Float32Array;
    }[],
  ): readonly Value[] {
    const { builder } = this;
    const added = variables.map(({ name, shape, host }): Variable => {
      const handle = builder.add("VarHandleOp", [], {
        dtype: floatType,
        shape: { kind: "shape", value: shape },
        shared_name: { kind: "string", value: name },
        container: { kind: "string", value: "" },
      });
      const content = builder.add("ReadVariableOp", [handle], { dtype: floatType });
      return { handle, shape, host, placeholder: builder.placeholder(shape), content };
    });
    const assigned = added.map(({ handle, placeholder }) =>
      builder.add("AssignVariableOp", [handle, placeholder], { dtype: floatType }),
    );
    this.written.push(builder.add("Identity", [builder.number(0)], undefined, assigned));
    this.all.push(...added);
    this.newest = "host";
    return added.map(({ handle }) => handle);
  }

  /** Returns the value that a variable has before a call changes it. */
  reading(handle: Value): Value {
    const entry = this.all.find((each) => each.handle.node === handle.node);
    if (entry === undefined) throw new RangeError("no variable has this handle");
    return entry.content;
  }

  hostChanged(): void {
    this.newest = "host";
  }

  graphChanged(): void {
    this.newest = "graph";
  }

  /** Writes JavaScript's values to the graph, if they are newer. TensorFlow may use their memory until the next write. */
  push(graph: LoadedGraph): void {
    if (this.newest !== "host") return;
    this.release(); // the variables get other memory
    const { binding, all, written } = this;
    const ids = all.map(({ shape, host }) => binding.createTensor(shape, binding.TF_FLOAT, host()));
    const done = graph.run(namesOf(all.map(({ placeholder }) => placeholder)), ids, namesOf(written));
    for (const id of [...ids, ...done]) binding.deleteTensor(id);
    this.newest = "both";
  }

  /**
   * The number by which `NativeBinding.adam` finds variables' memory, valid until the next `push`. Report changes by
   * `graphChanged`.
   * @param handles of weights, then of each average; the same in each call
   */
  hold(graph: LoadedGraph, handles: readonly Value[]): number {
    if (this.held === undefined) {
      const { binding } = this;
      const contents = handles.map((handle) => this.all.find((each) => each.handle === handle)?.content as Value);
      const ids = graph.run("", [], namesOf(contents));
      const weights = { ...attributesOf(binding).integers("N", []), value: handles.length / 3 };
      const operations = new Operations(binding);
      operations.adopt(ids);
      this.held = operations.read(operations.run("RingmasterHold", [weights], ids))[0] as number;
      operations.dispose();
    }
    return this.held;
  }

  /** Ends the use of `hold`. */
  release(): void {
    if (this.held !== undefined) this.binding.releaseHeld(this.held);
    this.held = undefined;
  }

  /** Copies the graph's values to JavaScript's memory, if they are newer. */
  pull(graph: LoadedGraph): void {
    if (this.newest !== "graph") return;
    const { binding, all } = this;
    const ids = graph.run("", [], namesOf(all.map(({ content }) => content)));
    ids.forEach((id, index) => {
      all[index]?.host().set(binding.tensorDataSync(id));
      binding.deleteTensor(id);
    });
    this.newest = "both";
  }
}

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

  /** Adds nodes, but no variables. @returns what `add` returns, or TensorFlow's refusal; then nothing was added */
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
