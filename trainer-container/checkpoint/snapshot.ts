/** Copies of a state that wait for their upload, in memory and files. */

import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import type { ParameterSlot } from "../engine/engine";
import type { Replica } from "../loop/replica";
import { stateBuffers } from "./state";
import { type StateFiles, stateFiles } from "./state-files";
import type { FrozenState } from "./upload-protocol";
import type { CheckpointHeader } from "./writer";

const write = promisify(fs.write);

/** A state smaller than this never touches the disk. */
const defaultMemoryBytes = 32 * 1024 * 1024;
const pieceBytes = 4 * 1024 * 1024;
/** More threads than the memory bandwidth supports would only slow the training down. */
const writers = 2;

interface Snapshot {
  /** Settles once the state itself may change. `undefined`: no file could take it, and the state must be read in place. */
  readonly kept: Promise<FrozenState | undefined>;
  /** The error because of which no file could take it. */
  readonly trouble: () => unknown;
  release(): void;
}

interface Slot {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  file: number | undefined;
  warming?: Promise<void>;
  wanted: boolean;
}

interface Piece {
  readonly bytes: Buffer;
  readonly position: number;
}

/**
 * Copies of the state during upload: a small part in memory, the rest in an unlinked file, which takes no resident
 * memory. It is overwritten: writing to existing pages is three times as fast.
 */
export class SnapshotSpace {
  private readonly idle: Slot[] = [];
  private closed = false;

  constructor(
    private readonly directory: string,
    private readonly memoryBytes: number = defaultMemoryBytes,
  ) {}

  /** Allocates a state's pages during the training: the first copy would take several times as long as later ones. */
  prepare(bytes: number): void {
    if (this.idle.length > 0 || this.closed) return;
    const slot = this.slot(Math.min(bytes, this.memoryBytes));
    slot.wanted = false;
    slot.memory.fill(0);
    slot.warming = this.warm(slot, bytes - slot.memory.length).catch(() => undefined); // the first copy reports the error
    this.idle.push(slot);
  }

  /** Copies the memory's part at once, and begins to copy the rest. */
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
    // Wait for all writes, because the file may be closed afterwards.
    const ends = await Promise.allSettled(Array.from({ length: writers }, writeSome));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
    return { memory, file };
  }

  /** Keeps one slot warm. A second one is rarely needed: by a checkpoint that had to wait. */
  private release(slot: Slot, spoilt: boolean): void {
    if (spoilt || this.closed || this.idle.length > 0) closeFile(slot);
    else this.idle.push(slot);
  }
}

/** Fills `memory` from the buffers' beginning. @returns the rest, in pieces */
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

/** Maximum wait of steps for an upload from the live state, if no file could take a copy. Then the checkpoint is abandoned. */
const uploadPatienceMs = 60_000;

export interface StateCopy {
  readonly header: CheckpointHeader;
  readonly files: StateFiles;
  readonly live: readonly Float32Array[];
  readonly snapshot: Snapshot;
  /** Settles when the copy is no longer needed. */
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** The live state may change: it is copied, or the copy was abandoned. */
  writable: boolean;
  /** The live state changed before it was copied or stored. */
  spoilt: boolean;
  /** Milliseconds that training was blocked. */
  blockedMs: number;
  waitingSince: number | undefined;
}

interface StateCopiesOptions {
  readonly layout: readonly ParameterSlot[];
  readonly space: SnapshotSpace;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Called if no file could take a copy of the state: the next step waits for the upload. */
  readonly onNotKept: (error: unknown, finishedSteps: number) => void;
}

export class StateCopies {
  private unwritable: readonly StateCopy[] = [];

  constructor(private readonly options: StateCopiesOptions) {}

  bytesOf(replica: Replica): number {
    return stateBuffers(replica, this.options.layout).reduce((bytes, { values }) => bytes + values.byteLength, 0);
  }

  take(replica: Replica, header: CheckpointHeader): StateCopy {
    const { layout, space, now, onNotKept } = this.options;
    const began = now();
    const buffers = stateBuffers(replica, layout);
    const live = buffers.map(({ values }) => values);
    const snapshot = space.take(live);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const copy: StateCopy = {
      header: {
        ...header,
        epochScore: replica.epochScore.slice(),
        ...(header.bestEpoch ? { bestEpoch: header.bestEpoch.slice() } : {}),
      },
      files: stateFiles(buffers, layout),
      live,
      snapshot,
      ended,
      end,
      writable: false,
      spoilt: false,
      blockedMs: now() - began,
      waitingSince: undefined,
    };
    this.unwritable = [...this.unwritable, copy];
    void snapshot.kept.then((frozen) => {
      if (frozen) this.allowWrites(copy);
      else onNotKept(snapshot.trouble(), header.finishedSteps);
    });
    return copy;
  }

  /** The copy no longer needs the live buffers. */
  allowWrites(copy: StateCopy): void {
    copy.writable = true;
    this.unwritable = this.unwritable.filter((other) => other !== copy);
  }

  release(copy: StateCopy): void {
    this.allowWrites(copy);
    copy.snapshot.release();
    copy.end();
  }

  /** Returns the milliseconds for which the copy blocked training, including the current wait. */
  blockedMs({ blockedMs, waitingSince }: StateCopy): number {
    return blockedMs + (waitingSince === undefined ? 0 : this.options.now() - waitingSince);
  }

  /** Settles once the live buffers may change. Never rejects. */
  writable(): Promise<void> | undefined {
    return this.unwritable.length === 0 ? undefined : this.hold(this.unwritable);
  }

  /** Waits until the copies are made, or until those that cannot be made are uploaded. */
  private async hold(copies: readonly StateCopy[]): Promise<void> {
    const { now, sleep } = this.options;
    for (const copy of copies) {
      const began = now();
      copy.waitingSince = began;
      const frozen = await copy.snapshot.kept;
      if (!frozen && !copy.writable) await Promise.race([copy.ended, sleep(uploadPatienceMs)]);
      if (!frozen && !copy.writable) copy.spoilt = true;
      this.allowWrites(copy);
      copy.waitingSince = undefined;
      copy.blockedMs += now() - began;
    }
  }
}
