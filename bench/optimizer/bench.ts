import { join } from "node:path";
import { allocateSum } from "../../trainer-container/collective/sum-memory";
import { simdGround } from "../../trainer-container/kernels/updates";
import { createOptimizer } from "../../trainer-container/optimizer/create-optimizer";
import { parseOptions } from "../support/arguments";
import { LineProcess } from "../support/line-process";
import { median } from "../support/median";
import { describePeer, findTorch, peerLine } from "../support/peer-python";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import { measureAccuracy } from "./accuracy";
import { doubleAdam } from "./rounded-adam";

/** An MLP 784-512-256-10 has 536 thousand weights. */
const sizes = [536_000, 5_000_000];
const rounds = 9;
const iterations = 5;

interface Contender {
  readonly name: string;
  /** Milliseconds of each step. */
  measure(elements: number): Promise<readonly number[]>;
}

interface SpeedLine {
  readonly elements: number;
  readonly contender: string;
  readonly milliseconds: number;
}

/** Wraps an implementation. State is kept by size, so that first touches of memory do not count. */
function ours(name: string, create: (elements: number) => (step: number) => void): Contender {
  const kept = new Map<number, { readonly run: (step: number) => void; steps: number }>();
  return {
    name,
    async measure(elements) {
      const state = kept.get(elements) ?? { run: create(elements), steps: 0 };
      kept.set(elements, state);
      return Array.from({ length: iterations }, () => {
        const start = performance.now();
        state.run(++state.steps);
        return performance.now() - start;
      });
    },
  };
}

function filled(values: Float32Array, of: (i: number) => number): Float32Array {
  for (let i = 0; i < values.length; i++) values[i] = of(i);
  return values;
}

function productAdam(name: string, allocate: (length: number) => Float32Array, simd: boolean): Contender {
  return ours(name, (elements) => {
    const weights = filled(allocate(elements), Math.sin);
    const gradient = filled(allocate(elements), (i) => Math.cos(i) * 1e-3);
    const optimizer = createOptimizer({ type: "adam" }, elements, simd ? simdGround : undefined);
    return (step) => optimizer.step(weights, gradient, { step, learningRate: 1e-3 });
  });
}

function torchAdam(name: string, child: LineProcess, fused: boolean): Contender {
  return {
    name,
    measure(elements) {
      child.send({ elements, iterations, fused });
      return child.receive<readonly number[]>();
    },
  };
}

async function measureSpeed(contenders: readonly Contender[]): Promise<SpeedLine[]> {
  const lines: SpeedLine[] = [];
  for (const elements of sizes) {
    const times = contenders.map(() => [] as number[]);
    for (let round = 0; round <= rounds; round++) {
      for (const [index, contender] of contenders.entries()) {
        const measured = await contender.measure(elements);
        if (round > 0) times[index]?.push(...measured); // the first round warms up
      }
    }
    lines.push(
      ...contenders.map(({ name }, index) => ({ elements, contender: name, milliseconds: median(times[index] ?? []) })),
    );
  }
  return lines;
}

/** Measures one Adam step against PyTorch's, and the end of 10,000 steps in each arithmetic. */
export async function benchOptimizer(args: readonly string[]): Promise<void> {
  const report = startReport(parseOptions(args, {}).json);
  const torch = findTorch();
  const heap = (length: number) => new Float32Array(length);
  const contenders = [
    productAdam("SIMD kernel", allocateSum, true),
    productAdam("the same in JavaScript", heap, false),
    ours("float64 arithmetic in JavaScript", (elements) => {
      const gradient = filled(heap(elements), (i) => Math.cos(i) * 1e-3);
      const adam = doubleAdam(() => heap(elements));
      return (step) => adam.step(gradient, { step, learningRate: 1e-3, weightDecay: 0 });
    }),
  ];
  const child =
    typeof torch === "string"
      ? undefined
      : new LineProcess(torch.python, ["-u", join(process.cwd(), "bench/optimizer/adam.py")], { OMP_NUM_THREADS: "1" });
  try {
    if (child) {
      await child.receive();
      contenders.push(torchAdam("PyTorch, fused", child, true), torchAdam("PyTorch, op by op", child, false));
    }
    const speed = await measureSpeed(contenders);
    const accuracy = measureAccuracy();
    report(
      { peer: describePeer(torch, "PyTorch Adam"), speed, accuracy },
      peerLine(torch, "one thread"),
      "",
      renderSpeed(speed),
      "",
      renderAccuracy(accuracy),
    );
  } finally {
    child?.kill();
  }
}

function renderSpeed(lines: readonly SpeedLine[]): string {
  return markdownTable(
    ["weights", "Adam", "ms a step", "ns a weight"],
    lines.map(({ elements, contender, milliseconds }) => [
      ...[elements.toLocaleString("en"), contender, milliseconds.toPrecision(3)],
      ((milliseconds / elements) * 1e6).toPrecision(3),
    ]),
  );
}

function renderAccuracy(lines: ReturnType<typeof measureAccuracy>): string {
  return markdownTable(
    ["10,000 steps", "arithmetic", "error", "loss − float64's"],
    lines.map(({ setting, arithmetic, relativeError, lossDifference }) => [
      ...[setting, arithmetic, relativeError.toExponential(2), lossDifference.toExponential(1)],
    ]),
  );
}
