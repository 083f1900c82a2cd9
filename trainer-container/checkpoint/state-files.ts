import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { objectKeys } from "../../core/object-keys";
import type { ContentPlace, ObjectStore } from "../../core/ports";
import { encodeHead } from "../../core/safetensors";
import type { TensorGroupReference } from "../../core/training/checkpoint/manifest";
import type { ParameterSlot } from "../engine/engine";
import type { StateBuffer } from "./state";

/** Bytes of a state, counted from its first buffer's beginning. The buffers follow each other. */
export interface Range {
  readonly start: number;
  readonly bytes: number;
}

/** A safetensors file to make from a state: its head, then these ranges. */
interface StateFile {
  readonly buffer: string;
  readonly head: Uint8Array;
  readonly ranges: readonly Range[];
}

export interface StateFiles {
  readonly groups: readonly StateFile[];
  /** `weights.safetensors`: only the parameters, so its digest is the digest of the weights. */
  readonly weights: StateFile;
}

/** Reads a state. A chunk is valid until the next one is requested. */
export type ReadState = (range: Range) => AsyncIterable<Uint8Array>;

export interface StoredState {
  readonly tensors: readonly TensorGroupReference[];
  readonly weightsSha256: string;
}

const uploadsInFlight = 4;

export function stateFiles(buffers: readonly StateBuffer[], layout: readonly ParameterSlot[]): StateFiles {
  const groups: StateFile[] = [];
  let weights: StateFile | undefined;
  let start = 0;
  for (const { name, values, groups: slots } of buffers) {
    for (const group of slots) groups.push(fileOf(name, group, start));
    if (name === "weights") weights = fileOf(name, layout, start);
    start += values.byteLength;
  }
  if (!weights) throw new RangeError("a state without weights");
  return { groups, weights };
}

/** Returns the size of a state without the heads of its files. */
export function bytesOf({ groups }: StateFiles): number {
  return groups.flatMap(({ ranges }) => ranges).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Describes the file of some of a buffer's parameters, which begins `start` bytes into the state. */
export function fileOf(buffer: string, slots: readonly ParameterSlot[], start = 0): StateFile {
  const { head, order } = encodeHead(slots.map(({ name, shape }) => ({ name, dtype: "F32", shape })));
  const ranges: { start: number; bytes: number }[] = [];
  for (const index of order) {
    const { offset, size } = slots[index]!;
    const next = { start: start + offset * 4, bytes: size * 4 };
    const last = ranges.at(-1);
    if (last && last.start + last.bytes === next.start) last.bytes += next.bytes;
    else ranges.push(next);
  }
  return { buffer, head, ranges };
}

/** Yields the file's bytes, with pauses for sockets and signals. */
export async function* contentOf({ head, ranges }: StateFile, read: ReadState): AsyncGenerator<Uint8Array> {
  yield head;
  for (const range of ranges) {
    for await (const chunk of read(range)) {
      yield chunk;
      await nextTurn();
    }
  }
}

/** Returns the SHA-256 of a file, as hex. */
export async function digestOfFile(file: StateFile, read: ReadState): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of contentOf(file, read)) hash.update(chunk);
  return hash.digest("hex");
}

/** Determines where a checkpoint's tensors are stored. It can be sent to another thread. */
export interface TensorPlaces {
  readonly runId: string;
  readonly step: number;
  /** Keys of the newest checkpoint's tensors, by digest. Equal tensors are not stored again. */
  readonly earlier: Readonly<Record<string, string>>;
}

/** Returns the place of a tensor file: an earlier one with the same content, or a new one of this checkpoint. */
function placeOf(store: Pick<ObjectStore, "hasContent">, { runId, step, earlier }: TensorPlaces): ContentPlace {
  return async (content) => {
    const key = earlier[content.sha256];
    if (key !== undefined && (await store.hasContent({ ...content, key }, "by-checksum"))) return { key, stored: true };
    return { key: objectKeys.tensors(runId, step, content.sha256), stored: false };
  };
}

export async function storeState(
  store: Pick<ObjectStore, "putContentStream" | "hasContent">,
  { groups, weights }: StateFiles,
  read: ReadState,
  places: TensorPlaces,
): Promise<StoredState> {
  const tensors: TensorGroupReference[] = [];
  const place = placeOf(store, places);
  let next = 0;
  const storeSome = async () => {
    while (next < groups.length) {
      const index = next;
      next += 1;
      const file = groups[index]!;
      let key = "";
      const content = await store.putContentStream(
        () => contentOf(file, read),
        undefined,
        async (each) => {
          const placed = await place(each);
          key = placed.key;
          return placed;
        },
      );
      tensors[index] = { buffer: file.buffer, ...content, key };
    }
  };
  await Promise.all(Array.from({ length: uploadsInFlight }, storeSome));
  // A small model's weights are one group, which is the same file as the weights.
  const ofWeights = tensors.filter(({ buffer }) => buffer === weights.buffer);
  const weightsSha256 = ofWeights.length === 1 ? ofWeights[0]!.sha256 : await digestOfFile(weights, read);
  return { tensors, weightsSha256 };
}

const liveChunk = 1024 * 1024;

/** Reads buffers in place. `check` is called before each chunk is returned, and may throw. */
export function readLive(buffers: readonly Float32Array[], check: () => void = () => undefined): ReadState {
  const all = buffers.map((values) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return async function* ({ start, bytes }) {
    let skipped = 0;
    for (const buffer of all) {
      const from = Math.max(0, start - skipped);
      const to = Math.min(buffer.length, start + bytes - skipped);
      for (let at = from; at < to; at += liveChunk) {
        check();
        yield buffer.subarray(at, Math.min(to, at + liveChunk));
      }
      skipped += buffer.length;
    }
  };
}
