/** Computes equal operations of micro-batches as one, where a row's result depends on this row alone. */
import { createHash } from "node:crypto";
import { type GraphNode, type OutputType, savedModel, type Value } from "../../../../adapters/saved-model/graph-def";
import { constantNode, int32, integersOf } from "../builder";
import { computesRows, type RowInput, shapeInputOf } from "./rows";

/** Elements of the largest vector register. Kernels round the rest differently, so rows must fill registers. */
const packet = 16;

/** Describes an output: the rows of one micro-batch, the same in all micro-batches, or neither. */
type Kind =
  /** `group` is the operation's name, the same in all micro-batches. */
  { readonly part: string; readonly microBatch: number } | { readonly shared: string } | undefined;

export interface Rewritten {
  readonly nodes: readonly GraphNode[];
  /** Returns the new position of a fetched value. */
  readonly placed: (fetched: Value) => Value;
}

/**
 * @param fetched values that callers need
 * @returns undefined if no products can be computed as one
 */
export function joinMicroBatches(
  nodes: readonly GraphNode[],
  microBatches: number,
  rows: number,
  fetched: readonly Value[],
): Rewritten | undefined {
  if (rows % packet !== 0 || nodes.some(({ control = [] }) => control.length > 0)) return undefined;
  const banned = new Set<string>();
  for (;;) {
    const analysis = new Analysis(nodes, microBatches, rows, banned);
    for (const value of fetched) analysis.kindOf(value);
    const incomplete = analysis.incompleteGroups();
    if (incomplete.length > 0) {
      for (const group of incomplete) banned.add(group);
      continue;
    }
    if (![...analysis.groups.values()].some(([first]) => isProduct(nodes[first as number]))) return undefined;
    const result = new Emission(analysis);
    for (const value of fetched) result.emit(value);
    return { nodes: result.nodes, placed: (value) => result.emit(value) };
  }
}

const isProduct = (node: GraphNode | undefined): boolean =>
  node !== undefined && /^(BatchMatMulV2|MatMul|RingmasterDense|Conv2D|DepthwiseConv2dNative)/.test(node.op);

class Analysis {
  /** Positions of an operation's nodes, by micro-batch. */
  readonly groups = new Map<string, (number | undefined)[]>();
  private readonly kinds = new Map<number, Kind>();

  constructor(
    readonly nodes: readonly GraphNode[],
    readonly microBatches: number,
    readonly rows: number,
    private readonly banned: ReadonlySet<string>,
  ) {}

  kindOf(value: Value): Kind {
    this.visit(value.node);
    const kind = this.kinds.get(value.node);
    if (kind === undefined) return undefined;
    if ("shared" in kind) return { shared: `${kind.shared}:${value.output}` };
    return { ...kind, part: `${kind.part}:${value.output}` };
  }

  nodeOf(index: number): GraphNode {
    return this.nodes[index] as GraphNode;
  }

  typeOf({ node, output }: Value): OutputType {
    return this.nodeOf(node).outputs?.[output] as OutputType;
  }

  incompleteGroups(): readonly string[] {
    const isComplete = (members: readonly unknown[]) =>
      Array.from({ length: this.microBatches }, (_, index) => members[index]).every((each) => each !== undefined);
    return [...this.groups].flatMap(([group, members]) => (isComplete(members) ? [] : [group]));
  }

  /** Finds the kinds of a node and of what it follows from, without recursion: graphs are deep. */
  private visit(index: number): void {
    const open = [index];
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const missing = this.nodeOf(at).inputs.filter(({ node }) => !this.kinds.has(node));
      if (missing.length === 0) {
        open.pop();
        if (!this.kinds.has(at)) this.kinds.set(at, this.classify(at));
      } else open.push(...missing.map(({ node }) => node));
    }
  }

  private classify(index: number): Kind {
    const node = this.nodeOf(index);
    const signature = signatureOf(node);
    if (node.op === "Placeholder") return { shared: `input ${index}` };
    if (node.op === "Slice" && this.nodeOf((node.inputs[0] as Value).node).op === "Placeholder") {
      const microBatch = this.microBatchOf(node);
      return microBatch === undefined ? undefined : this.join(index, `rows of ${node.inputs[0]?.node}`, microBatch);
    }
    const kinds = node.inputs.map((input) => this.kindOf(input));
    if (kinds.every((kind) => kind && "shared" in kind)) {
      const sources = kinds.map((kind) => (kind as { readonly shared: string }).shared);
      return { shared: digest([signature, ...sources]) };
    }
    const parts = kinds.filter(isPart);
    const [first] = parts;
    if (first === undefined || parts.some(({ microBatch }) => microBatch !== first.microBatch)) return undefined;
    const inputs = this.rowInputs(node, kinds);
    if (kinds.some((kind, at) => kind === undefined && inputs[at]?.batched !== true)) return undefined;
    if (!this.hasRows(node) || !computesRows(node, inputs)) return undefined;
    const sources = kinds.map((kind) => (kind === undefined ? "own" : "part" in kind ? kind.part : kind.shared));
    return this.join(index, digest([signature, ...sources]), first.microBatch);
  }

  /** Adds a node to its group. Equal operations of one micro-batch are counted, in the order in which they are found. */
  private join(index: number, name: string, microBatch: number): Kind {
    for (let occurrence = 0; ; occurrence += 1) {
      const group = `${name} ${occurrence}`;
      const members = this.groups.get(group) ?? [];
      if (members[microBatch] !== undefined) continue;
      if (this.banned.has(group)) return undefined;
      members[microBatch] = index;
      this.groups.set(group, members);
      return { part: group, microBatch };
    }
  }

  rowInputs(node: GraphNode, kinds: readonly Kind[]): readonly RowInput[] {
    return node.inputs.map((input, index) => {
      const kind = kinds[index];
      const source = this.nodeOf(input.node);
      const shape = source.outputs?.[input.output]?.shape ?? [];
      // A value that all micro-batches have in common may still have a row for each of theirs.
      const hasOwnRows = kind === undefined || shape.length === node.outputs?.[0]?.shape.length;
      const isMatrix = isProduct(node) && index === 1 && kind !== undefined && "shared" in kind;
      const batched = isPart(kind) || (shape[0] === this.rows && hasOwnRows && !isMatrix);
      return { batched, shape, integers: integersOf(source) };
    });
  }

  /** Whether the outputs are rows. What follows the first output may be for the operation's gradient alone. */
  private hasRows({ op, outputs = [] }: GraphNode): boolean {
    const counted = op === "_MklNativeMaxPool" ? outputs.slice(0, 1) : outputs;
    return counted.length > 0 && counted.every(({ shape }) => shape[0] === this.rows);
  }

  /** Returns the micro-batch whose rows of an input a slice is. */
  private microBatchOf({ inputs, outputs }: GraphNode): number | undefined {
    const [data, begin] = inputs.map(({ node }) => this.nodeOf(node)) as [GraphNode, GraphNode];
    const shape = data.outputs?.[0]?.shape;
    const first = integersOf(begin)?.[0];
    if (first === undefined || shape?.[0] !== this.rows * this.microBatches || outputs?.[0]?.shape[0] !== this.rows)
      return undefined;
    return first / this.rows;
  }
}

type Part = Extract<Kind, { readonly part: string }>;
const isPart = (kind: Kind): kind is Part => kind !== undefined && "part" in kind;

const digest = (parts: readonly string[]): string => createHash("sha256").update(parts.join("\n")).digest("base64");

const signatureOf = ({ op, attributes, exact = false }: GraphNode): string =>
  createHash("sha256")
    .update(String(exact))
    .update(savedModel([{ op, inputs: [], attributes }]))
    .digest("base64");

class Emission {
  readonly nodes: GraphNode[] = [];
  private readonly known = new Map<string, Value>();

  constructor(private readonly analysis: Analysis) {}

  /** Adds what a value follows from. @returns its new position */
  emit(value: Value): Value {
    const kind = this.analysis.kindOf(value);
    if (kind && "part" in kind) return this.rowsOf(value, kind.microBatch);
    const key = kind ? kind.shared : `${value.node}:${value.output}`;
    const cached = this.known.get(key);
    if (cached) return cached;
    const node = this.analysis.nodeOf(value.node);
    const inputs = node.inputs.map((input) => this.emit(input));
    const added = { node: this.add({ ...node, inputs }), output: value.output };
    this.known.set(key, added);
    // Other outputs of the same node.
    node.outputs?.forEach((_, output) => {
      const other = this.analysis.kindOf({ node: value.node, output });
      const otherKey = other && "shared" in other ? other.shared : `${value.node}:${output}`;
      if (!this.known.has(otherKey)) this.known.set(otherKey, { node: added.node, output });
    });
    return added;
  }

  private add(node: GraphNode): number {
    return this.nodes.push(node) - 1;
  }

  /** Cuts a micro-batch's rows out of a batched value. */
  private rowsOf(value: Value, microBatch: number): Value {
    const key = `rows ${value.node}:${value.output}`;
    const cached = this.known.get(key);
    if (cached) return cached;
    const { analysis } = this;
    const { rows } = analysis;
    const batched = this.batchedOf(value);
    const { type, shape } = analysis.typeOf(value);
    if (shape[0] !== rows) throw new RangeError("a result for a gradient alone is read elsewhere");
    const inputs = [
      batched,
      this.integers([microBatch * rows, ...shape.slice(1).map(() => 0)]),
      this.integers([rows, ...shape.slice(1).map(() => -1)]),
    ];
    const attributes = { T: { kind: "type", value: type }, Index: { kind: "type", value: int32 } } as const;
    const added = { node: this.add({ op: "Slice", inputs, attributes, outputs: [{ type, shape }] }), output: 0 };
    this.known.set(key, added);
    return added;
  }

  /** Adds the operation of a value's group for the rows of all micro-batches. */
  private batchedOf(value: Value): Value {
    const { analysis } = this;
    const kind = analysis.kindOf(value) as { readonly part: string };
    const group = kind.part.slice(0, kind.part.lastIndexOf(":"));
    const cached = this.known.get(group);
    if (cached) return { node: cached.node, output: value.output };
    const members = analysis.groups.get(group) as readonly number[];
    const first = analysis.nodeOf(members[0] as number);
    if (group.startsWith("rows of ")) {
      const source = this.emit(first.inputs[0] as Value);
      this.known.set(group, source);
      return source;
    }
    const kinds = first.inputs.map((input) => analysis.kindOf(input));
    const rowInputs = analysis.rowInputs(first, kinds);
    const inputs = first.inputs.map((input, index): Value => {
      const kind = kinds[index];
      if (kind && "part" in kind) return this.batchedOf(input);
      if (rowInputs[index]?.batched) {
        return this.joined(members.map((member) => analysis.nodeOf(member).inputs[index] as Value));
      }
      const { integers } = rowInputs[index] as RowInput;
      if (index !== shapeInputOf(first) || integers?.[0] !== analysis.rows) return this.emit(input);
      return this.integers([analysis.rows * analysis.microBatches, ...integers.slice(1)]);
    });
    const outputs = (first.outputs ?? []).map(({ type, shape }) => ({ type, shape: this.scaled(shape) }));
    const added = { node: this.add({ ...first, inputs, outputs }), output: 0 };
    this.known.set(group, added);
    return { node: added.node, output: value.output };
  }

  private joined(values: readonly Value[]): Value {
    const [first] = values as [Value];
    const { type, shape } = this.analysis.typeOf(first);
    const axis = this.add(constantNode([], Int32Array.of(0)));
    const attributes = {
      N: { kind: "int", value: values.length },
      T: { kind: "type", value: type },
      Tidx: { kind: "type", value: int32 },
    } as const;
    const inputs = [...values.map((value) => this.emit(value)), { node: axis, output: 0 }];
    const node = this.add({ op: "ConcatV2", inputs, attributes, outputs: [{ type, shape: this.scaled(shape) }] });
    return { node, output: 0 };
  }

  private scaled(shape: readonly number[]): readonly number[] {
    return [(shape[0] as number) * this.analysis.microBatches, ...shape.slice(1)];
  }

  private integers(values: readonly number[]): Value {
    const key = `integers ${values.join()}`;
    const group = this.known.get(key) ?? {
      node: this.add(constantNode([values.length], Int32Array.from(values))),
      output: 0,
    };
    this.known.set(key, group);
    return group;
  }
}
