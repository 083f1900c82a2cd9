/** The used part of Emscripten's module. */
export interface Heap {
  _malloc(bytes: number): number;
  _free(at: number): void;
}

/** WebAssembly's memory has no space for a tensor or a buffer. */
export class WasmMemoryError extends RangeError {
  constructor(bytes: number) {
    super(`The WebAssembly heap has no ${bytes} bytes left.`);
  }
}

/** The bytes of a cache line. Every buffer starts at one. */
const line = 64;

/**
 * Named buffers on the backend's heap. Each has the largest size requested so far. An allocation moves only the buffer
 * that grows.
 */
export class Buffers<Name extends string> {
  private readonly held = new Map<Name, { readonly bytes: number; readonly malloc: number }>();

  constructor(private readonly heap: Heap) {}

  /**
   * Returns a buffer.
   * @returns its address, which changes only when a larger size is requested; the content is then lost
   */
  at(name: Name, bytes: number): number {
    const known = this.held.get(name);
    if (known && known.bytes >= bytes) return aligned(known.malloc);
    if (known) this.heap._free(known.malloc);
    this.held.delete(name);
    const malloc = this.heap._malloc(bytes + line) >>> 0;
    if (malloc === 0) throw new WasmMemoryError(bytes);
    this.held.set(name, { bytes, malloc });
    return aligned(malloc);
  }

  dispose(): void {
    for (const { malloc } of this.held.values()) this.heap._free(malloc);
    this.held.clear();
  }
}

const aligned = (at: number): number => Math.ceil(at / line) * line;
