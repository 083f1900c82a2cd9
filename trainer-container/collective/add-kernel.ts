import { advance, f32, f32x4, i32, local, v128, whileLoop } from "../../adapters/wasm/instructions";
import {
  createMemory,
  instantiate,
  type MemoryImport,
  type WasmFunction,
  type WasmMemory,
} from "../../adapters/wasm/module";

const [out, a, b, count] = [0, 1, 2, 3];
const lanesATurn = 16;
/** 4 GiB, the range of 32-bit addresses. Shared, because views of it stay valid only then when it grows. */
export const sumMemoryLimits: MemoryImport = { initial: 1, maximum: 65_536, shared: true };

const at = local.get;
const addLanes = (offset: number) =>
  v128.store(at(out), f32x4.add(v128.load(at(a), offset), v128.load(at(b), offset)), offset);
const step = (lanes: number) => [
  ...[out, a, b].flatMap((pointer) => advance(pointer, lanes * 4)),
  ...advance(count, -lanes),
];

/** `f32x4.add` rounds each lane like `f32.add`, to nearest even, in the order of the elements: the plain loop's bits. */
const add: WasmFunction = {
  name: "add",
  params: ["i32", "i32", "i32", "i32"],
  body: [
    whileLoop(i32.geU(at(count), i32.const(lanesATurn)), ...[0, 16, 32, 48].map(addLanes), step(lanesATurn)),
    whileLoop(at(count), f32.store(at(out), f32.add(f32.load(at(a)), f32.load(at(b)))), step(1)),
  ],
};

/** Addresses in bytes, below 2³²; `count` float32s. */
export type AddKernel = (out: number, a: number, b: number, count: number) => void;

/** @throws if this machine has no WebAssembly SIMD, or cannot reserve 4 GiB of address space */
export function createAddKernel(): { readonly memory: WasmMemory; readonly add: AddKernel } {
  const memory = createMemory(sumMemoryLimits);
  const exports = instantiate([add], sumMemoryLimits, memory);
  return { memory, add: exports["add"] as unknown as AddKernel };
}
