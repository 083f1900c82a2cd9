import type { ObjectStore } from "../../core/ports";
import { type FrozenState, readFrozen } from "./frozen-state";
import { type StateFiles, type StoredState, storeState, type TensorPlaces } from "./state-files";

/** Stores a frozen state's files, on this thread or another one. */
export type StateUploader = (state: FrozenState, files: StateFiles, places: TensorPlaces) => Promise<StoredState>;

/** Stores on the calling thread. */
export function uploadHere(store: ObjectStore): StateUploader {
  return (state, files, places) => storeState(store, files, readFrozen(state), places);
}

export interface UploadThreadSettings {
  readonly bucket: string;
  /** Prefix of every key. */
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
