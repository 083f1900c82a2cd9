/** As much of Emscripten's module as is used here. */
export interface Heap {
  _malloc(bytes: number): number;
  _free(at: number): void;
}

/** Bytes of a cache line; every buffer starts on one. */
const line = 64;

/** Buffers on the backend's heap by name, each as large as was ever asked for. Allocating moves none but the one that grows. */
export class Buffers<Name extends string> {
  private readonly held = new Map<Name, { readonly bytes: number; readonly malloc: number }>();

  constructor(private readonly heap: Heap) {}

  /** @returns its address, the same until more is asked for; then its content is lost. */
  at(name: Name, bytes: number): number {
    const known = this.held.get(name);
    if (known && known.bytes >= bytes) return aligned(known.malloc);
    if (known) this.heap._free(known.malloc);
    this.held.delete(name);
    const malloc = this.heap._malloc(bytes + line) >>> 0;
    if (malloc === 0) throw new RangeError(`The WebAssembly heap has no ${bytes} bytes left for '${name}'.`);
    this.held.set(name, { bytes, malloc });
    return aligned(malloc);
  }

  dispose(): void {
    for (const { malloc } of this.held.values()) this.heap._free(malloc);
    this.held.clear();
  }
}

const aligned = (at: number): number => Math.ceil(at / line) * line;
