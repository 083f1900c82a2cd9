import type { NetworkWeight } from "../../../../core/export";
import { type GraphBuilder, range, Value } from "../builder";
import { applied, type Conversion, type Converter, channelsLast, only, unsupported } from "./dense";
import { columnsOf } from "./sequences";

/** A layer's settings. Those of a Bidirectional are the settings of the layer in it. */
type Config = Readonly<Record<string, unknown>>;

interface Direction {
  readonly conversion: Conversion;
  readonly config: Config;
  readonly units: number;
  /** U, `[units, gates × units]`. */
  readonly recurrentKernel: NetworkWeight;
  /** x_t·W + b by time, `[rows, gates × units]`, in the order in which the steps are computed. */
  readonly projected: readonly string[];
  /** The input's mask by time, `[rows, 1]`, in the same order, if it has one. */
  readonly masks: readonly string[] | undefined;
}

/** Returns h_t by time, `[rows, units]`. The state before the first step is 0. */
type Cell = (direction: Direction) => readonly string[];

/** Cells as in tfjs-layers (`src/layers/recurrent.ts`), step by step, so that any activation is supported. */
const cells: Readonly<Record<string, Cell>> = {
  SimpleRNN(direction) {
    const { builder } = direction.conversion;
    const kernel = gatesOf(direction, 0, 1);
    return overTime(direction, (x, h) => {
      const sum = h === undefined ? x : builder.add("Add", [x, builder.add("MatMul", [h, kernel])]);
      return activate(direction, "activation", sum);
    });
  },

  GRU(direction) {
    const { builder } = direction.conversion;
    const part = (z: string, index: number) => gateOf(direction, z, index);
    const [gateKernel, candidateKernel] = [gatesOf(direction, 0, 2), gatesOf(direction, 2, 1)];
    return overTime(direction, (x, h) => {
      const inner = h === undefined ? undefined : builder.add("MatMul", [h, gateKernel]);
      const gate = (index: number) => {
        const z = part(x, index);
        const sum = inner === undefined ? z : builder.add("Add", [z, part(inner, index)]);
        return activate(direction, "recurrentActivation", sum);
      };
      const update = gate(0);
      const kept = builder.add("Sub", [builder.floats([1], []), update]);
      if (h === undefined) return builder.add("Mul", [kept, activate(direction, "activation", part(x, 2))]);
      const reset = builder.add("MatMul", [builder.add("Mul", [gate(1), h]), candidateKernel]);
      const candidate = activate(direction, "activation", builder.add("Add", [part(x, 2), reset]));
      return builder.add("Add", [builder.add("Mul", [update, h]), builder.add("Mul", [kept, candidate])]);
    });
  },

  LSTM(direction) {
    const { builder } = direction.conversion;
    const kernel = gatesOf(direction, 0, 4);
    let state: string | undefined;
    return overTime(direction, (x, h, step) => {
      const z = h === undefined ? x : builder.add("Add", [x, builder.add("MatMul", [h, kernel])]);
      const gate = (index: number) => activate(direction, "recurrentActivation", gateOf(direction, z, index));
      const added = builder.add("Mul", [gate(0), activate(direction, "activation", gateOf(direction, z, 2))]);
      const next = state === undefined ? added : builder.add("Add", [builder.add("Mul", [gate(1), state]), added]);
      state = masked(direction, step, next, state);
      return builder.add("Mul", [gate(3), activate(direction, "activation", next)]);
    });
  },
};

export const recurrentLayers: Readonly<Record<string, Converter>> = {
  ...Object.fromEntries(
    Object.keys(cells).map((className): [string, Converter] => [
      className,
      (conversion) => {
        const { config } = conversion.layer;
        const outputs = run(conversion, className, config, "", config["goBackwards"] === true);
        return channelsLast(conversion, result(conversion, config, outputs));
      },
    ]),
  ),

  Bidirectional(conversion) {
    const { builder, layer } = conversion;
    const { className, config } = layer.config["layer"] as { readonly className: string; readonly config: Config };
    const goesBackwards = config["goBackwards"] === true;
    const forward = run(conversion, className, config, "forward_", goesBackwards);
    const backward = run(conversion, className, config, "backward_", !goesBackwards);
    // A sequence of the backward layer is returned in the order of the forward one.
    const ordered = config["returnSequences"] === true ? [...backward].reverse() : backward;
    const both = [result(conversion, config, forward), result(conversion, config, ordered)];
    switch (layer.config["mergeMode"]) {
      case "concat":
        return channelsLast(conversion, builder.add("Concat", both, { axis: { int: layer.outputShape.length } }));
      case "sum":
        return channelsLast(conversion, builder.add("Add", both));
      case "mul":
        return channelsLast(conversion, builder.add("Mul", both));
      case "ave":
        return channelsLast(conversion, builder.add("Mul", [builder.add("Add", both), builder.floats([0.5], [])]));
      default:
        return unsupported(conversion, "its mergeMode is null, so it has two outputs");
    }
  },
};

/** @returns h_t in the order of the computation */
function run(
  conversion: Conversion,
  className: string,
  config: Config,
  prefix: string,
  goesBackwards: boolean,
): readonly string[] {
  const { builder, layer, inputs } = conversion;
  const [mask] = conversion.masks;
  const cell = Object.hasOwn(cells, className) ? cells[className] : undefined;
  if (!cell) return unsupported(conversion, `the layer in it is ${className}, not ${Object.keys(cells).join(", ")}`);
  if (inputs.length > 1) return unsupported(conversion, "it receives its initial state");
  for (const option of ["returnState", "stateful"])
    if (config[option] === true) return unsupported(conversion, `it has the option ${option}`);
  const [time] = only(conversion).shape as readonly [number, number];
  const [kernel, recurrentKernel, bias] = ["kernel", "recurrent_kernel", "bias"].map(
    (name) => layer.weights[`${prefix}${name}`],
  ) as [NetworkWeight, NetworkWeight, NetworkWeight | undefined];
  const product = builder.add("MatMul", [only(conversion).last, constant(builder, kernel)]);
  const all = bias ? builder.add("Add", [product, constant(builder, bias)]) : product;
  const steps = goesBackwards ? range(0, time).map((step) => time - 1 - step) : range(0, time);
  const byTime = (x: string) =>
    steps.map((step) => builder.add("Gather", [x, builder.integer(step)], { axis: { int: 1 } }));
  const sequence = { projected: byTime(all), masks: mask === undefined ? undefined : byTime(mask) };
  return cell({ conversion, config, units: recurrentKernel.shape[0]!, recurrentKernel, ...sequence });
}

function overTime(
  direction: Direction,
  compute: (x: string, h: string | undefined, step: number) => string,
): readonly string[] {
  const outputs: string[] = [];
  for (const [step, x] of direction.projected.entries()) {
    const h = outputs.at(-1);
    outputs.push(masked(direction, step, compute(x, h, step), h));
  }
  return outputs;
}

/** Keeps the former value, which is 0 before the first step, where the mask omits the step. */
function masked({ conversion: { builder }, masks }: Direction, step: number, next: string, former?: string): string {
  const mask = masks?.[step];
  if (mask === undefined) return next;
  const taken = builder.add("Mul", [next, mask]);
  if (former === undefined) return taken;
  return builder.add("Add", [taken, builder.add("Mul", [former, builder.add("Sub", [builder.floats([1], []), mask])])]);
}

/** Returns the last output, or all as `[rows, time, units]`. */
function result({ builder }: Conversion, config: Config, outputs: readonly string[]): string {
  if (config["returnSequences"] !== true) return outputs.at(-1)!;
  const joined = outputs.length === 1 ? outputs[0]! : builder.add("Concat", outputs, { axis: { int: 1 } });
  return builder.add("Reshape", [joined, builder.integers([0, outputs.length, config["units"] as number])]);
}

function gatesOf({ conversion, recurrentKernel, units }: Direction, from: number, count: number): string {
  const { data, shape, name } = recurrentKernel;
  const columns = columnsOf(data, shape[1]!, from * units, count * units);
  return conversion.builder.floats(columns, [units, count * units], `${name}/${from}`);
}

function gateOf({ conversion: { builder }, units }: Direction, z: string, index: number): string {
  const [from, to] = [index * units, (index + 1) * units];
  return builder.add("Slice", [z, builder.integers([from]), builder.integers([to]), builder.integers([1])]);
}

function activate({ conversion, config, units }: Direction, field: string, x: string): string {
  const activation = config[field] as string | { readonly className: string };
  const name = typeof activation === "string" ? activation : activation.className;
  return applied(conversion, new Value(conversion.builder, [units], { last: x }), name).last;
}

function constant(builder: GraphBuilder, { data, shape, name }: NetworkWeight): string {
  return builder.floats(data, shape, name);
}
