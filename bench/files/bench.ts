import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PNG } from "pngjs";
import { checked, parseOptions } from "../support/arguments";
import { stopWhenEnded } from "../support/ending";
import { startReport } from "../support/report";
import { startStack } from "../support/stack";
import { markdownTable } from "../support/table";

interface Pushed {
  readonly version: number;
  readonly bytes: number;
  readonly shards: readonly { readonly sha256: string }[];
}

const kinds = ["image", "text"] as const;
const filesInFolder = 5_000;

/**
 * Measures the push of many small files through the command line, and of the same files with one changed. Prints how many
 * shards the second push stored: one.
 */
export async function benchFiles(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { files: 600_000, kind: "text" });
  const { files: count } = values;
  const kind = checked("kind", values.kind, kinds);
  const report = startReport(values.json);
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-files-"));
  // The push writes the schema that it suggests next to the folder.
  const folder = join(directory, "samples");
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const ended = stopWhenEnded(remove);
  const stack = startStack();
  try {
    for (let index = 0; index < count; index += 1) writeSample(folder, kind, index);
    const push = (): { readonly seconds: number; readonly pushed: Pushed } => {
      const begin = performance.now();
      const pushed = stack.ringmaster(["datasets", "push", "many", "--file", folder]) as Pushed;
      return { seconds: (performance.now() - begin) / 1_000, pushed };
    };
    const first = push();
    writeSample(folder, kind, Math.floor(count / 2));
    const second = push();
    const known = new Set(first.pushed.shards.map(({ sha256 }) => sha256));
    const stored = second.pushed.shards.filter(({ sha256 }) => !known.has(sha256)).length;
    const lines = [
      {
        push: "all files",
        seconds: first.seconds,
        shards: first.pushed.shards.length,
        stored: first.pushed.shards.length,
      },
      { push: "one changed", seconds: second.seconds, shards: second.pushed.shards.length, stored },
    ];
    const rows = lines.map((line) => [line.push, line.seconds.toFixed(1), String(line.shards), String(line.stored)]);
    const table = markdownTable(["push", "seconds", "shards", "shards stored"], rows);
    report({ kind, files: count, lines }, "", `${count} files of 1 KB (${kind})`, "", table);
  } finally {
    stack.close();
    remove();
    ended();
  }
}

/** Writes a file of about 1 KB whose content does not compress, in one of ten classes. */
function writeSample(folder: string, kind: (typeof kinds)[number], index: number): void {
  const directory = join(folder, String(Math.floor(index / filesInFolder)).padStart(4, "0"), `class-${index % 10}`);
  if (index % filesInFolder < 10) mkdirSync(directory, { recursive: true });
  const name = String(index).padStart(8, "0");
  writeFileSync(join(directory, `${name}.${kind === "text" ? "txt" : "png"}`), kind === "text" ? text() : image());
}

const text = (): string => randomBytes(768).toString("base64");

function image(): Buffer {
  const png = new PNG({ width: 16, height: 16 });
  png.data.set(randomBytes(1_024));
  return PNG.sync.write(png, { colorType: 2, filterType: 0, deflateLevel: 1 });
}
