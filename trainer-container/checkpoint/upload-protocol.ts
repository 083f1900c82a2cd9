import { readSync } from "node:fs";
import type { ObjectStore } from "../../core/ports";
import { type ReadState, type StateFiles, type StoredState, storeState, type TensorPlaces } from "./state-files";

/** A copy of a state that does not change: its first bytes in memory, the rest in a file. It can be sent to another thread. */
export interface FrozenState {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  /** File descriptor of the bytes after the memory's last byte. */
  readonly file?: number;
}

const chunkBytes = 1024 * 1024;

/** @throws Error if the file is shorter than the state */
export function readFrozen({ memory, file }: FrozenState): ReadState {
  return async function* ({ start, bytes }) {
    const end = start + bytes;
    for (let at = start; at < Math.min(end, memory.length); at += chunkBytes) {
      yield memory.subarray(at, Math.min(end, memory.length, at + chunkBytes));
    }
    const first = Math.max(start, memory.length);
    if (first >= end) return;
    if (file === undefined) throw new Error(`byte ${end} was requested of a state of ${memory.length} bytes`);
    const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, end - first));
    for (let at = first; at < end; ) {
      // Usually from the page cache, so a thread of the pool would cost more than the copy.
      const read = readSync(file, chunk, 0, Math.min(chunk.length, end - at), at - memory.length);
      if (read === 0) throw new Error(`the copy of the state ends at byte ${at} instead of ${end}`);
      yield chunk.subarray(0, read);
      at += read;
    }
  };
}

export type StateUploader = (state: FrozenState, files: StateFiles, places: TensorPlaces) => Promise<StoredState>;

export function uploadHere(store: ObjectStore): StateUploader {
  return (state, files, places) => storeState(store, files, readFrozen(state), places);
}

export interface UploadThreadSettings {
  readonly bucket: string;
  readonly prefix: string;
}

export interface UploadRequest {
  readonly id: number;
  readonly state: FrozenState;
  readonly files: StateFiles;
  readonly places: TensorPlaces;
}

export type UploadReply =
  | { readonly id: number; readonly stored: StoredState }
  | { readonly id: number; readonly failure: { readonly message: string; readonly code?: string } };
