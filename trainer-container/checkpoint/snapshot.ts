import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import type { FrozenState } from "./frozen-state";

const write = promisify(fs.write);

/** A state smaller than this never touches the disk. */
const defaultMemoryBytes = 32 * 1024 * 1024;
const pieceBytes = 4 * 1024 * 1024;
/** More threads than memory has bandwidth for only take it from the training. */
const writers = 2;

export interface Snapshot {
  /** Settled once the state itself may change. `undefined`: no file could take it, and the state must be read where it is. */
  readonly kept: Promise<FrozenState | undefined>;
  /** Why no file could take it. */
  readonly trouble: () => unknown;
  /** Nobody reads it any more. */
  release(): void;
}

interface Slot {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  file: number | undefined;
  /** The file's pages are being made; ends soon once a state wants the slot. */
  warming?: Promise<void>;
  wanted: boolean;
}

interface Piece {
  readonly bytes: Buffer;
  readonly position: number;
}

/**
 * Where copies of the state are kept while they are uploaded: a little in memory, the rest in a file that has no name, so that it goes with
 * the process however that ends. The file costs no resident memory, its pages being the page cache's; and it is written over from one checkpoint
 * to the next, because pages that are there already take a copy three times as fast as new ones.
 */
export class SnapshotSpace {
  private readonly idle: Slot[] = [];
  private closed = false;

  constructor(
    private readonly directory: string,
    private readonly memoryBytes: number = defaultMemoryBytes,
  ) {}

  /**
   * Makes the pages for a state of that size ahead of its first copy, beside the training. Without them that one would take several times as
   * long as those that follow.
   */
  prepare(bytes: number): void {
    if (this.idle.length > 0 || this.closed) return;
    const slot = this.slot(Math.min(bytes, this.memoryBytes));
    slot.wanted = false;
    slot.memory.fill(0);
    slot.warming = this.warm(slot, bytes - slot.memory.length).catch(() => undefined); // the first copy meets it again
    this.idle.push(slot);
  }

  /** Copies what goes to memory at once, and begins to copy the rest. */
  take(buffers: readonly Float32Array[]): Snapshot {
    const total = buffers.reduce((bytes, { byteLength }) => bytes + byteLength, 0);
    const slot = this.slot(Math.min(total, this.memoryBytes));
    slot.wanted = true;
    const pieces = copyFirst(slot.memory, buffers);
    let trouble: unknown;
    const kept = this.keep(slot, pieces).catch((error: unknown) => {
      trouble = error;
      return undefined;
    });
    return { kept, trouble: () => trouble, release: () => void kept.then((frozen) => this.release(slot, !frozen)) };
  }

  close(): void {
    this.closed = true;
    for (const slot of this.idle.splice(0)) {
      if (slot.warming) void slot.warming.then(() => closeFile(slot));
      else closeFile(slot);
    }
  }

  private slot(memoryBytes: number): Slot {
    const slot = this.idle.pop();
    if (slot?.memory.length === memoryBytes) return slot;
    if (slot) void Promise.resolve(slot.warming).then(() => closeFile(slot));
    return { memory: new Uint8Array(new SharedArrayBuffer(memoryBytes)), file: undefined, wanted: true };
  }

  private async warm(slot: Slot, bytes: number): Promise<void> {
    if (bytes <= 0) return;
    slot.file ??= openNameless(this.directory);
    const zeros = Buffer.alloc(Math.min(bytes, pieceBytes / 4));
    for (let at = 0; at < bytes && !slot.wanted && !this.closed; at += zeros.length) {
      await write(slot.file, zeros, 0, Math.min(zeros.length, bytes - at), at);
    }
  }

  private async keep(slot: Slot, pieces: readonly Piece[]): Promise<FrozenState> {
    if (pieces.length === 0) return { memory: slot.memory };
    await slot.warming;
    slot.file ??= openNameless(this.directory);
    const { file, memory } = slot;
    let next = 0;
    const writeSome = async () => {
      while (next < pieces.length) {
        const { bytes, position } = pieces[next++]!;
        for (let at = 0; at < bytes.length; ) {
          const { bytesWritten } = await write(file, bytes, at, bytes.length - at, position + at);
          at += bytesWritten;
        }
      }
    };
    // All settled: no write may be under way when the file is closed.
    const ends = await Promise.allSettled(Array.from({ length: writers }, writeSome));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
    return { memory, file };
  }

  /** One slot stays warm. A second one was needed by a checkpoint that had to wait, which is rare. */
  private release(slot: Slot, spoilt: boolean): void {
    if (spoilt || this.closed || this.idle.length > 0) closeFile(slot);
    else this.idle.push(slot);
  }
}

/** Fills `memory` from the buffers' beginning. @returns what is left, in pieces. */
function copyFirst(memory: Uint8Array, buffers: readonly Float32Array[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  for (const values of buffers) {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
    const inMemory = Math.min(bytes.length, Math.max(0, memory.length - start));
    if (inMemory > 0) memory.set(bytes.subarray(0, inMemory), start);
    for (let at = inMemory; at < bytes.length; at += pieceBytes) {
      pieces.push({ bytes: bytes.subarray(at, at + pieceBytes), position: start + at - memory.length });
    }
    start += bytes.length;
  }
  return pieces;
}

function openNameless(directory: string): number {
  fs.mkdirSync(directory, { recursive: true });
  const name = path.join(directory, `ringmaster-state-${process.pid}-${randomBytes(6).toString("hex")}`);
  const file = fs.openSync(name, "wx+", 0o600);
  fs.unlinkSync(name);
  return file;
}

function closeFile(slot: Slot): void {
  if (slot.file !== undefined) fs.closeSync(slot.file);
  slot.file = undefined;
}
