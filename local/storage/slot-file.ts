import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { makeDirectory, syncDirectory } from "../../adapters/files/directory";

/** The size of a slot. Each slot is in its own sector, so no interrupted write touches both. */
const slotBytes = 4096;
const slots = 2;

interface Slot<T> {
  readonly generation: number;
  readonly content: T;
}

/**
 * A small record that is replaced in place repeatedly. Each write goes to the older of two slots, so an interrupted
 * write leaves the other slot. A slot is its CRC-32, then JSON.
 */
export class SlotFile<T> {
  private generation: number;

  private constructor(
    private readonly descriptor: number,
    generation: number,
    /** The content when the file was opened. */
    readonly content: T,
  ) {
    this.generation = generation;
  }

  /** Creates the file durably and atomically, with both slots written. */
  static create<T>(path: string, content: T): SlotFile<T> {
    makeDirectory(dirname(path), 0o700);
    const unfinished = `${path}.tmp`;
    const descriptor = openSync(unfinished, "w+", 0o600);
    const file = new SlotFile(descriptor, 0, content);
    for (let i = 0; i < slots; i++) file.write(content);
    file.flush();
    renameSync(unfinished, path);
    syncDirectory(dirname(path));
    return file;
  }

  /** Opens the file. Returns undefined if it does not exist, and "damaged" if no slot is intact. */
  static open<T>(path: string): SlotFile<T> | "damaged" | undefined {
    if (!existsSync(path)) return undefined;
    const newest = newestSlot<T>(path);
    if (!newest) return "damaged";
    return new SlotFile(openSync(path, "r+"), newest.generation, newest.content);
  }

  /** Reads the content without keeping the file open. */
  static read<T>(path: string): T | "damaged" | undefined {
    return existsSync(path) ? (newestSlot<T>(path)?.content ?? "damaged") : undefined;
  }

  /** Writes the content. It survives the death of this process when `write` returns, and a power loss after `flush`. */
  write(content: T): void {
    const generation = this.generation + 1;
    const json = JSON.stringify({ generation, content });
    const bytes = Buffer.from(`${checksum(json)} ${json}\n`);
    if (bytes.length > slotBytes) throw new Error("A slot's content must be small");
    writeSync(this.descriptor, bytes, 0, bytes.length, (generation % slots) * slotBytes);
    // A failed write is repeated in its slot, because the other one is the newest.
    this.generation = generation;
  }

  flush(): void {
    fsyncSync(this.descriptor);
  }

  close(): void {
    this.flush();
    closeSync(this.descriptor);
  }
}

function newestSlot<T>(path: string): Slot<T> | undefined {
  const bytes = readFileSync(path);
  return [0, 1]
    .flatMap((slot) => readSlot<T>(bytes.subarray(slot * slotBytes, (slot + 1) * slotBytes)))
    .sort((a, b) => b.generation - a.generation)[0];
}

/** Reads the slots. After a shorter content, the end of a longer one may follow its line. */
function readSlot<T>(bytes: Buffer): readonly Slot<T>[] {
  const end = bytes.indexOf(10);
  const [, expected, json] = /^([0-9a-f]{8}) (.*)$/.exec(bytes.toString("utf8", 0, Math.max(0, end))) ?? [];
  return json !== undefined && checksum(json) === expected ? [JSON.parse(json) as Slot<T>] : [];
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
