import { type BlockSquare, javascriptBlockSquare } from "../optimizer/clip";
import type { Code } from "../wasm/encoding";
import { advance, f64, f64x2, i32, ifElse, local, v128, whileLoop } from "../wasm/instructions";
import type { WasmFunction } from "../wasm/module";
import { inSumMemory, kernelsInSumMemory } from "./sum-memory";

const [at, count, low, high, term] = [0, 1, 2, 3, 4];
const elementsATurn = 4;
const addSquare = (sum: number, values: Code) => [
  local.set(term, f64x2.promoteLowF32x4(values)),
  local.set(sum, f64x2.add(local.get(sum), f64x2.mul(local.get(term), local.get(term)))),
];

/** The order of `javascriptBlockSquare`: running sums 0 and 1 in one register, 2 and 3 in the other. A missing element adds +0, which changes nothing. */
const squares: WasmFunction = {
  name: "squares",
  params: ["i32", "i32"],
  result: "f64",
  locals: ["v128", "v128", "v128"],
  body: [
    whileLoop(
      i32.geU(local.get(count), i32.const(elementsATurn)),
      ...addSquare(low, v128.load64Zero(local.get(at))),
      ...addSquare(high, v128.load64Zero(local.get(at), 8)),
      advance(at, 16),
      advance(count, -elementsATurn),
    ),
    ifElse(
      i32.geU(local.get(count), i32.const(2)),
      [
        ...addSquare(low, v128.load64Zero(local.get(at))),
        ...ifElse(i32.eq(local.get(count), i32.const(3)), addSquare(high, v128.load32Zero(local.get(at), 8)).flat()),
      ].flat(),
      ifElse(local.get(count), addSquare(low, v128.load32Zero(local.get(at))).flat()),
    ),
    local.set(low, f64x2.add(local.get(low), local.get(high))),
    f64.add(f64x2.extractLane(local.get(low), 0), f64x2.extractLane(local.get(low), 1)),
  ],
};

const kernels = kernelsInSumMemory([squares]);

/** Uses a kernel if the values are in the memory of sums, otherwise JavaScript. The bits are the same. */
export const simdBlockSquare: BlockSquare = (values, start, end) => {
  if (kernels === undefined || !inSumMemory(values)) return javascriptBlockSquare(values, start, end);
  if (!(start >= 0 && start <= end && end <= values.length)) {
    throw new RangeError(`[${start}, ${end}) was requested, but the array has ${values.length} elements`);
  }
  return kernels["squares"]!(values.byteOffset + start * 4, end - start);
};
