import { signed, unsigned } from "../../../trainer-container/wasm/encoding";
import {
  advance,
  f32,
  f32x4,
  f64,
  i32,
  ifElse,
  local,
  v128,
  whileLoop,
} from "../../../trainer-container/wasm/instructions";
import {
  createMemory,
  instantiate,
  type MemoryImport,
  type WasmFunction,
} from "../../../trainer-container/wasm/module";
import { multiplyAdd } from "../../../trainer-container/wasm/multiply-add";

const limits: MemoryImport = { initial: 1, shared: false };

function run(...functions: WasmFunction[]) {
  const memory = createMemory(limits);
  return { floats: new Float32Array(memory.buffer), exports: instantiate(functions, limits, memory) };
}

describe("LEB128", () => {
  it.each([
    [0, [0]],
    [127, [127]],
    [128, [0x80, 1]],
    [624_485, [0xe5, 0x8e, 0x26]],
  ])("writes %i without a sign", (value, bytes) => expect(unsigned(value)).toEqual(bytes));

  it.each([
    [0, [0]],
    [63, [63]],
    [64, [0xc0, 0]],
    [-1, [0x7f]],
    [-64, [0x40]],
    [-65, [0xbf, 0x7f]],
    [-123_456, [0xc0, 0xbb, 0x78]],
  ])("writes %i with its sign", (value, bytes) => expect(signed(value)).toEqual(bytes));
});

describe("instantiate", () => {
  it("runs a loop over vectors in the given memory", () => {
    const [at, count] = [0, 1];
    const { floats, exports } = run({
      name: "halve",
      params: ["i32", "i32"],
      body: [
        whileLoop(
          local.get(count),
          v128.store(local.get(at), f32x4.mul(v128.load(local.get(at)), f32x4.splat(f32.const(0.5)))),
          advance(at, 16),
          advance(count, -1),
        ),
      ],
    });
    floats.set([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    exports["halve"]!(0, 2);
    expect([...floats.subarray(0, 9)]).toEqual([0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 9]);
  });

  it("returns results, separates locals from parameters, and supports several functions", () => {
    const { exports } = run(
      {
        name: "square",
        params: ["f64"],
        result: "f64",
        locals: ["f64"],
        body: [local.set(1, local.get(0)), f64.mul(local.get(0), local.get(1))],
      },
      {
        name: "larger",
        params: ["i32", "i32"],
        result: "i32",
        locals: ["i32"],
        body: [
          ifElse(i32.gtU(local.get(0), local.get(1)), local.set(2, local.get(0)), local.set(2, local.get(1))),
          local.get(2),
        ],
      },
    );
    expect(exports["square"]!(1.5)).toBe(2.25);
    expect(exports["larger"]!(3, 200)).toBe(200);
    expect(exports["larger"]!(300, 200)).toBe(300);
  });
});

const lanes = [0, 1, 2].map((index) => f32x4.splat(local.get(index))) as [number[], number[], number[]];
const memory = { initial: 0, maximum: 0, shared: false };
const compile = () =>
  instantiate(
    [
      {
        name: "run",
        params: ["f32", "f32", "f32"],
        result: "f32",
        body: [f32x4.extractLane(f32x4.relaxedMultiplyAdd(...lanes), 2)],
      },
    ],
    memory,
    createMemory(memory),
  )["run"]!;

it("multiplyAdd is how this process rounds", () => {
  if (multiplyAdd() === "fused") {
    expect(compile()(3, 2 ** -24 + 1, -3)).toBe(0); // 1 + 2⁻²⁴ is not a float32.
    expect(compile()(1 + 2 ** -23, 1 - 2 ** -23, -1)).toBe(-(2 ** -46));
    return;
  }
  let run: ReturnType<typeof compile> | undefined;
  try {
    run = compile();
  } catch {
    return; // The engine does not have the instruction.
  }
  expect(run(1 + 2 ** -23, 1 - 2 ** -23, -1)).toBe(0);
});
