import { parseOptions } from "../support/arguments";
import { startReport } from "../support/report";
import "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { startWasmBackend } from "../../adapters/tfjs/wasm-backend";
import { LineProcess } from "../support/line-process";
import { median } from "../support/median";
import { findTorch } from "../support/peer-python";
import { markdownTable } from "../support/table";
import { operations, type Shape, shapes } from "./shapes";

/** Returns the CPU seconds of one product. */
type Contender = (shape: Shape, repeat: number) => Promise<number>;

interface Row {
  readonly name: string;
  readonly operations: number;
  /** GFLOP/s by contender. */
  readonly rates: Readonly<Record<string, number>>;
}

type MatMul = (args: { inputs: object; backend: unknown; attrs: object }) => tf.TensorInfo;

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Wraps a kernel of this process. Operands are created once per shape. */
function inProcess(kernel: MatMul): Contender {
  const operands = new Map<string, { readonly a: tf.Tensor; readonly b: tf.Tensor }>();
  return async (shape, repeat) => {
    const { m, k, n, transposeA, transposeB } = shape;
    const backend = tf.backend() as tf.KernelBackend & { disposeData(id: object): void };
    const inputs = operands.get(shape.name) ?? {
      a: tf.randomUniform(transposeA ? [k, m] : [m, k]),
      b: tf.randomUniform(transposeB ? [n, k] : [k, n]),
    };
    operands.set(shape.name, inputs);
    const start = cpuSeconds();
    for (let i = 0; i < repeat; i++) {
      backend.disposeData(kernel({ inputs, backend, attrs: { transposeA, transposeB } }).dataId);
    }
    return (cpuSeconds() - start) / repeat;
  };
}

async function race(contenders: Readonly<Record<string, Contender>>, rounds: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const shape of shapes) {
    const repeat = Math.max(1, Math.ceil(4e8 / operations(shape)));
    const seconds: Record<string, number[]> = {};
    for (let round = -1; round < rounds; round++) {
      for (const [who, contender] of Object.entries(contenders)) {
        const took = await contender(shape, repeat);
        if (round >= 0) seconds[who] = [...(seconds[who] ?? []), took]; // the first round compiles and warms caches
      }
    }
    const rates = Object.entries(seconds).map(([who, took]) => [who, operations(shape) / median(took) / 1e9] as const);
    rows.push({ name: shape.name, operations: operations(shape), rates: Object.fromEntries(rates) });
  }
  return rows;
}

function render(rows: readonly Row[]): string {
  const names = Object.keys(rows[0]?.rates ?? {});
  return markdownTable(
    ["GFLOP/s", ...names],
    rows.map(({ name, rates }) => [name, ...names.map((who) => rates[who]!.toFixed(1))]),
  );
}

/** Measures matrix products of the benchmark models: our kernel, TensorFlow.js's XNNPACK, PyTorch, one thread each, alternating. */
export async function benchKernels(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { rounds: 9 });
  const report = startReport(values.json);
  const stock = tf.getKernel(tf.BatchMatMul, "wasm").kernelFunc as unknown as MatMul;
  await startWasmBackend();
  const ours = tf.getKernel(tf.BatchMatMul, "wasm").kernelFunc as unknown as MatMul;
  const torch = findTorch();
  const peer = typeof torch === "string" ? undefined : new LineProcess(torch.python, ["-u", "bench/kernels/matmul.py"]);
  try {
    const rows = await race(
      {
        ours: inProcess(ours),
        XNNPACK: inProcess(stock),
        ...(peer
          ? {
              PyTorch: async ({ m, k, n, transposeA, transposeB }: Shape, repeat: number) => {
                peer.send({ m, k, n, transposeA, transposeB, repeat });
                return (await peer.receive<{ readonly seconds: number }>()).seconds;
              },
            }
          : {}),
      },
      values.rounds,
    );
    const who = typeof torch === "string" ? torch : `peer: PyTorch ${torch.torch}, one thread`;
    report({ torch, rows }, `${who}; CPU time, medians of ${values.rounds} rounds in turn`, "", render(rows));
  } finally {
    peer?.kill();
  }
}
