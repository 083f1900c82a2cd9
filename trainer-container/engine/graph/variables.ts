import type { Value } from "../../../adapters/saved-model/graph-def";
import type { TensorId } from "../native/operations";
import type { NativeBinding } from "../native-binding";
import { floatType, type GraphBuilder } from "./builder";
import { type LoadedGraph, namesOf } from "./loaded-graph";

/** A variable of a graph, and its values in JavaScript's memory. */
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
  /** See `share`. */
  private shared: readonly TensorId[] | undefined;
  /** Place of the newest values. */
  private newest: "host" | "graph" | "both" = "host";

  constructor(
    private readonly binding: NativeBinding,
    private readonly builder: GraphBuilder,
  ) {}

  /** @returns the variables' handles */
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
    const found = this.all.find((each) => each.handle.node === handle.node);
    if (found === undefined) throw new RangeError("no variable has this handle");
    return found.content;
  }

  /** Reports that JavaScript's memory has the newest values. */
  hostChanged(): void {
    this.newest = "host";
  }

  /** Reports that the graph has changed variables. */
  graphChanged(): void {
    this.newest = "graph";
  }

  /** Writes JavaScript's values to the graph, if they are newer. TensorFlow may use their memory until the next write. */
  push(graph: LoadedGraph): void {
    if (this.newest !== "host") return;
    this.endSharing(); // the variables get other memory
    const { binding, all, written } = this;
    const ids = all.map(({ shape, host }) => binding.createTensor(shape, binding.TF_FLOAT, host()));
    const done = graph.run(namesOf(all.map(({ placeholder }) => placeholder)), ids, namesOf(written));
    for (const id of [...ids, ...done]) binding.deleteTensor(id);
    this.newest = "both";
  }

  /**
   * Returns tensors that share the memory of variables, valid until the next call of `push`. An operation outside of the graph may
   * change them; report it by `graphChanged`.
   *
   * @param handles the same in each call. The graph itself changes their memory in place, if at all
   */
  share(graph: LoadedGraph, handles: readonly Value[]): readonly TensorId[] {
    if (this.shared === undefined) {
      const contents = handles.map((handle) => this.all.find((each) => each.handle === handle)?.content as Value);
      this.shared = graph.run("", [], namesOf(contents));
    }
    return this.shared;
  }

  /** Deletes the tensors of `share`. */
  endSharing(): void {
    for (const id of this.shared ?? []) this.binding.deleteTensor(id);
    this.shared = undefined;
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
