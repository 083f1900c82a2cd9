import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Numbers with all digits: a value takes 19 bytes as text, and 8 in a shard that cannot be compressed. */
export const numbers = 64;
const names = Array.from({ length: numbers }, (_, i) => `x${String(i).padStart(2, "0")}`);
/** Rows of a file: about half a GB. */
const fileRows = 409_600;
const rowsAtOnce = 8_192;
/** `,0.` and 16 digits. */
const valueBytes = 19;
const maxRowBytes = 12 + numbers * valueBytes + 3;

/** The four digits of each number below 10,000, as they lie in memory. */
const digits = Uint32Array.from({ length: 10_000 }, (_, i) => {
  const text = String(i).padStart(4, "0");
  return new DataView(Uint8Array.from(text, (digit) => digit.charCodeAt(0)).buffer).getUint32(0);
});

/**
 * Writes CSV files of random numbers, as many as have `bytes`, at about the speed of a disk and in a few MB of memory.
 * The class is 1 for rows whose first numbers are large, so that a model has something to learn. `id` is unique.
 */
export function writeSource(folder: string, bytes: number): { readonly rows: number; readonly bytes: number } {
  mkdirSync(folder, { recursive: true });
  const buffer = Buffer.alloc(rowsAtOnce * maxRowBytes);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  let state = 0x9e3779b9;
  // xorshift32 (Marsaglia, 2003).
  const draw = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  let [rows, written] = [0, 0];
  while (written < bytes) {
    const file = openSync(join(folder, `part-${String(rows / fileRows).padStart(4, "0")}.csv`), "w");
    written += writeSync(file, `id,${names.join(",")},y\n`);
    for (let row = 0; row < fileRows; row += rowsAtOnce) {
      let at = 0;
      for (let i = 0; i < rowsAtOnce; i += 1) {
        at += buffer.write(String(rows + row + i), at);
        let sum = 0;
        for (let number = 0; number < numbers; number += 1) {
          const [one, other] = [draw(), draw()];
          const first = one % 10_000;
          if (number < 3) sum += first;
          view.setUint8(at, 0x2c);
          view.setUint16(at + 1, 0x302e);
          view.setUint32(at + 3, digits[first]!);
          view.setUint32(at + 7, digits[(one >>> 14) % 10_000]!);
          view.setUint32(at + 11, digits[other % 10_000]!);
          view.setUint32(at + 15, digits[(other >>> 14) % 10_000]!);
          at += valueBytes;
        }
        at += buffer.write(sum > 15_000 ? ",1\n" : ",0\n", at);
      }
      written += writeSync(file, buffer, 0, at);
    }
    closeSync(file);
    rows += fileRows;
  }
  return { rows, bytes: written };
}

export function writeFiles(folder: string): {
  readonly schema: string;
  readonly contract: string;
  readonly job: string;
} {
  const write = (name: string, lines: readonly string[]): string => {
    const file = join(folder, name);
    writeFileSync(file, `${lines.join("\n")}\n`);
    return file;
  };
  return {
    schema: write("schema.yaml", [
      "columns:",
      "  - {name: id, type: int, role: ignore}",
      ...names.map((name) => `  - {name: ${name}, type: float}`),
      "  - {name: y, type: int, role: label, values: [0, 1]}",
    ]),
    contract: write("contract.yaml", [
      "rules:",
      "  - {rule: unique, columns: [id]}",
      ...names.slice(0, 8).map((name) => `  - {rule: range, column: ${name}, minimum: 0, maximum: 1}`),
      "  - {rule: statistic, column: x00, statistic: mean, minimum: 0.4, maximum: 0.6}",
      "  - {rule: statistic, column: x01, statistic: quantile, probability: 0.5, minimum: 0.4, maximum: 0.6}",
      "  - {rule: expression, expression: x02 + x03 <= 2}",
    ]),
    job: write("job.yaml", [
      "experiment: large",
      "dataset: large@latest",
      "registerAs: large",
      "model:",
      "  type: mlp",
      "  hidden: [32]",
      "hyperparameters:",
      "  optimizer: adam",
      "  learningRate: 0.003",
      "  batchSize: 4096",
      "  epochs: 1",
      "resources:",
      "  workers: 1",
      "seed: 7",
    ]),
  };
}
