/** WebAssembly modules assembled from TypeScript, so that the repository contains no binaries. */
import { type Code, unsigned, vector } from "./encoding";

const valueTypes = { i32: 0x7f, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
export type ValueType = keyof typeof valueTypes;
export const pageBytes = 65_536;

export interface WasmFunction {
  readonly name: string;
  readonly params: readonly ValueType[];
  readonly result?: ValueType;
  /** The locals, numbered after the parameters. */
  readonly locals?: readonly ValueType[];
  readonly body: readonly Code[];
}

/** The memory that the module imports as `env.memory`. */
export interface MemoryImport {
  /** The size in pages of 64 KiB. */
  readonly initial: number;
  readonly maximum?: number;
  readonly shared: boolean;
}

/** The used part of `WebAssembly.Memory`. Its types belong to the browser's library. */
export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
  /** @throws RangeError if no memory is left */
  grow(pages: number): number;
}

export type WasmExports = Readonly<Record<string, (...args: number[]) => number>>;

interface WebAssemblyApi {
  readonly Memory: new (limits: { initial: number; maximum?: number; shared: boolean }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: WasmExports };
}

const api = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

/** @throws RangeError if the address space for `maximum` cannot be reserved */
export function createMemory(limits: MemoryImport): WasmMemory {
  return new api.Memory({ ...limits });
}

/** @throws CompileError if this machine has no WebAssembly SIMD */
export function instantiate(
  functions: readonly WasmFunction[],
  imported: MemoryImport,
  memory: WasmMemory,
): WasmExports {
  const module = new api.Module(assemble(functions, imported));
  return new api.Instance(module, { env: { memory } }).exports;
}

function assemble(functions: readonly WasmFunction[], memory: MemoryImport): Uint8Array {
  const { initial, maximum, shared } = memory;
  const flags = (maximum === undefined ? 0 : 1) | (shared ? 2 : 0);
  const limits = [flags, ...unsigned(initial), ...(maximum === undefined ? [] : unsigned(maximum))];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(functions.map(signature))),
    ...section(2, list([[...name("env"), ...name("memory"), 0x02, ...limits]])),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(7, list(functions.map((each, index) => [...name(each.name), 0x00, ...unsigned(index)]))),
    ...section(10, list(functions.map((each) => vector(code(each))))),
  ]);
}

const section = (id: number, content: Code): Code => [id, ...vector(content)];
const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const name = (text: string): Code => vector([...new TextEncoder().encode(text)]);
const typesOf = (types: readonly ValueType[]): Code => types.map((type) => valueTypes[type]);

function signature({ params, result }: WasmFunction): Code {
  return [0x60, ...vector(typesOf(params)), ...vector(result === undefined ? [] : typesOf([result]))];
}

function code({ locals = [], body }: WasmFunction): Code {
  const declared = list(typesOf(locals).map((type) => [1, type]));
  return [...declared, ...body.flat(), 0x0b];
}
