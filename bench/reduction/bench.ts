import { allocateSum } from "../../trainer-container/collective/sum-memory";
import { createEngine } from "../../trainer-container/engine/create-engine";
import type { Engine } from "../../trainer-container/engine/engine";
import { list, parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { type CurveLine, paddedLength, trainWith } from "./curves";
import { createTask, type Digits, leafCount, loadDigits } from "./digits";
import { type ErrorLine, measureError } from "./errors";
import { measureOrders } from "./gang";
import { exactSum, narrowSum, plainSum, type SumMethod, stochasticSum, treeSum } from "./sums";
import { renderCurves, renderErrors, renderOrders, renderTimes, type TimeLine } from "./tables";

/** Loss scale of float16 here: fixed, because its dynamics are not measured. */
const float16Scale = 1_024;
const methods = (): readonly SumMethod[] => [
  treeSum(),
  plainSum,
  exactSum(32, 256),
  exactSum(32, 1_024),
  exactSum(64, 256),
  exactSum(64, 1_024),
  narrowSum("bfloat16"),
  stochasticSum(),
  narrowSum("float16", float16Scale),
];

/** Number of steps after which gradients are measured again, when training has settled. */
const lateStep = 300;

async function realErrors(engine: Engine, digits: Digits): Promise<ErrorLine[]> {
  const lines: ErrorLine[] = [];
  for (const name of ["mlp", "cnn"] as const) {
    const task = await createTask(engine, digits, name, 1);
    const length = paddedLength(task.model.parameterCount);
    const [out, ...leaves] = Array.from({ length: leafCount + 1 }, () => allocateSum(length)) as [
      Float32Array,
      ...Float32Array[],
    ];
    const weights = new Float32Array(task.model.parameterCount);
    for (const step of [0, lateStep]) {
      if (step > 0) await settle(task, weights, leaves, out);
      task.leaves(step, leaves);
      for (const method of methods()) lines.push(measureError(`${name}, step ${step + 1}`, method, leaves, out));
    }
    task.model.dispose();
  }
  return lines;
}

/** Runs plain gradient descent, which is enough to reach small gradients. */
async function settle(
  task: Awaited<ReturnType<typeof createTask>>,
  weights: Float32Array,
  leaves: readonly Float32Array[],
  out: Float32Array,
): Promise<void> {
  task.model.readWeights(weights);
  const tree = treeSum();
  for (let step = 0; step < lateStep; step++) {
    task.leaves(step, leaves);
    tree.sum(leaves, out, step);
    for (let i = 0; i < weights.length; i++) weights[i] = (weights[i] as number) - ((out[i] as number) / 128) * 0.2;
    task.model.writeWeights(weights);
  }
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

function syntheticErrors(): ErrorLine[] {
  const next = random(3);
  const normal = () => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
  const length = 262_144;
  const shapes: Readonly<Record<string, () => number>> = {
    "normal, one scale": normal,
    "normal, scales over 12 bits": () => normal() * 2 ** (-12 * next()),
    "normal, scales over 30 bits": () => normal() * 2 ** (-30 * next()),
  };
  return Object.entries(shapes).flatMap(([shape, draw]) => {
    const [out, ...leaves] = Array.from({ length: leafCount + 1 }, () => allocateSum(length)) as [
      Float32Array,
      ...Float32Array[],
    ];
    // An element's scale is the same in all leaves, as a weight's is.
    for (let i = 0; i < length; i++) {
      const scale = draw();
      for (const leaf of leaves) leaf[i] = scale * normal();
    }
    return methods().map((method) => measureError(shape, method, leaves, out));
  });
}

function measureTimes(rounds: number): TimeLine[] {
  const timed = methods().filter(({ name }) => !name.includes("stochastic"));
  return [65_536, 1_048_576].flatMap((elements) => {
    const [out, ...leaves] = Array.from({ length: leafCount + 1 }, () => allocateSum(elements)) as [
      Float32Array,
      ...Float32Array[],
    ];
    const next = random(9);
    for (const leaf of leaves) for (let i = 0; i < elements; i++) leaf[i] = next() - 0.5;
    const times = timed.map(() => [] as number[]);
    for (let round = 0; round <= rounds; round++) {
      for (const [index, method] of timed.entries()) {
        const cpu = process.cpuUsage();
        const repeats = Math.ceil(4_000_000 / elements);
        for (let i = 0; i < repeats; i++) method.sum(leaves, out, i);
        const { user, system } = process.cpuUsage(cpu);
        if (round > 0) times[index]?.push(((user + system) * 1_000) / repeats / elements);
      }
    }
    return timed.map(({ name, bytesPerElement, exponentBytesPerElement }, index) => ({
      elements,
      method: name,
      nanoseconds: median(times[index] ?? []),
      bytesPerElement,
      exponentBytesPerElement,
    }));
  });
}

async function measureCurves(
  engine: Engine,
  digits: Digits,
  { steps, seeds, model, named }: ReturnType<typeof optionsOf>,
): Promise<CurveLine[]> {
  const lines: CurveLine[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    for (const method of methods()) {
      if (method.name.includes("1024") || !named(method.name)) continue; // blocks of 256 show the same
      lines.push(await trainWith(method, engine, digits, { model, seed, steps, learningRate: 0.002 }));
    }
  }
  return lines;
}

/** Parses `--only errors,times,curves,orders`, `--rounds N`; for curves: `--steps N`, `--seeds N`, `--model mlp|cnn`, `--methods PART_OF_NAME,…`. */
function optionsOf(args: readonly string[]) {
  const values = parseOptions(args, { steps: 300, seeds: 3, rounds: 7, model: "mlp", only: "", methods: "" });
  const [only, methods] = [list(values.only), list(values.methods)];
  return {
    ...values,
    model: values.model === "cnn" ? ("cnn" as const) : ("mlp" as const),
    named: (name: string) => methods.length === 0 || methods.some((part) => name.includes(part)),
    wants: (part: string) => only.length === 0 || only.includes(part),
  };
}

/** Measures sums of V leaves: error against float64, time, effect on training, and the cost of the canonical order between processes. */
export async function benchReduction(args: readonly string[]): Promise<void> {
  const options = optionsOf(args);
  const report = startReport(options.json);
  const { rounds, wants } = options;
  const engine = await createEngine({ preferred: "auto", threads: 1 });
  const digits = wants("errors") || wants("curves") ? loadDigits() : undefined;
  const errors = digits && wants("errors") ? [...(await realErrors(engine, digits)), ...syntheticErrors()] : [];
  const times = wants("times") ? measureTimes(rounds) : [];
  const orders = wants("orders") ? await measureOrders([2, 4], rounds) : [];
  const curves = digits && wants("curves") ? await measureCurves(engine, digits, options) : [];
  const tables = [renderErrors(errors), renderTimes(times), renderOrders(orders), renderCurves(curves)];
  report(
    { errors, times, orders, curves },
    `${engine.backend} engine`,
    ...tables.flatMap((table) => (table === "" ? [] : ["", table])),
  );
}
