/**
 * The WebAssembly module of the add kernel, assembled here so that no binary stands beside the source. In text form:
 *
 *     (import "collective" "memory" (memory 1 65536 shared))
 *     (func (export "add") (param $out i32) (param $a i32) (param $b i32) (param $count i32)   ;; byte addresses, float32s
 *       (loop while count >= 16:  four times f32x4.add, 16 bytes apart; $out += 64, $a += 64, $b += 64; count -= 16)
 *       (loop while count > 0:    f32.add;                              $out += 4,  $a += 4,  $b += 4;  count -= 1))
 *
 * `f32x4.add` rounds each lane as `f32.add` does, to nearest even, in the order of the elements: the bits are those of the plain loop.
 * Opcodes: WebAssembly Core Specification 2.0, section 5.4.
 */

const i32 = 0x7f;
const [out, a, b, count] = [0, 1, 2, 3];
const lanesATurn = 16;
/** 4 GiB, what 32-bit addresses reach. */
const maximumPages = 65_536;
export const pageBytes = 65_536;

type Code = readonly number[];

function unsigned(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >>> 7;
  return rest === 0 ? [low] : [low | 0x80, ...unsigned(rest)];
}

function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const last = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return last ? [low] : [low | 0x80, ...signed(rest)];
}

const vector = (items: Code): Code => [...unsigned(items.length), ...items];
const section = (id: number, content: Code): Code => [id, ...vector(content)];
const name = (text: string): Code => vector([...Buffer.from(text)]);

const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const constant = (value: number): Code => [0x41, ...signed(value)];
const advance = (local: number, bytes: number): Code => [...get(local), ...constant(bytes), 0x6a, ...set(local)];
/** `while (condition) body` as a loop around an if. */
const whileLoop = (condition: Code, body: Code): Code => [
  ...[0x03, 0x40, ...condition, 0x04, 0x40],
  ...body,
  ...[0x0c, 1, 0x0b, 0x0b],
];

/** Unaligned accesses are allowed; the alignment is a hint. */
const vectorLoad = (local: number, offset: number): Code => [...get(local), 0xfd, 0x00, 2, ...unsigned(offset)];
const vectorAdd = (offset: number): Code => [
  ...get(out),
  ...vectorLoad(a, offset),
  ...vectorLoad(b, offset),
  ...[0xfd, ...unsigned(0xe4)],
  ...[0xfd, 0x0b, 2, ...unsigned(offset)],
];
const load = (local: number): Code => [...get(local), 0x2a, 2, 0];
const step = (lanes: number): Code => [
  ...[out, a, b].flatMap((local) => advance(local, lanes * 4)),
  ...advance(count, -lanes),
];

const addBody: Code = [
  0, // no locals beside the parameters
  ...whileLoop(
    [...get(count), ...constant(lanesATurn), 0x4f],
    [...[0, 16, 32, 48].flatMap(vectorAdd), ...step(lanesATurn)],
  ),
  ...whileLoop(get(count), [...get(out), ...load(a), ...load(b), 0x92, 0x38, 2, 0, ...step(1)]),
  0x0b,
];

const moduleBytes = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, ...vector([i32, i32, i32, i32]), 0]),
  ...section(2, [1, ...name("collective"), ...name("memory"), 0x02, 0x03, ...unsigned(1), ...unsigned(maximumPages)]),
  ...section(3, [1, 0]),
  ...section(7, [1, ...name("add"), 0x00, 0]),
  ...section(10, [1, ...vector(addBody)]),
]);

/** Addresses in bytes, below 2³²; `count` float32s. */
export type AddKernel = (out: number, a: number, b: number, count: number) => void;

/** As much of `WebAssembly.Memory` as is used here; its types belong to the browser's library. */
export interface GrowingMemory {
  readonly buffer: SharedArrayBuffer;
  /** @throws RangeError where there is no more. */
  grow(pages: number): number;
}

interface WebAssemblyApi {
  readonly Memory: new (limits: { initial: number; maximum: number; shared: true }) => GrowingMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** @throws where this machine has no WebAssembly SIMD, or no 4 GiB of address space to reserve. */
export function createAddKernel(): { readonly memory: GrowingMemory; readonly add: AddKernel } {
  const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
  const memory = new Memory({ initial: 1, maximum: maximumPages, shared: true });
  const instance = new Instance(new Module(moduleBytes), { collective: { memory } });
  return { memory, add: instance.exports["add"] as AddKernel };
}
