import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory } from "./storage/directory";

/** The number of the format of a data directory. It changes whenever this version could not read earlier data. */
const layout = 4;

export class LayoutError extends Error {
  override readonly name = "LayoutError";

  constructor(data: string, found: unknown) {
    super(
      `${data} holds data of layout ${typeof found === "number" ? found : "unknown"}; this version of Ringmaster reads layout ${layout}. ` +
        "No data was changed. Start afresh in another directory with `ringmaster up --data DIRECTORY`. To keep results, export them with " +
        "the version that wrote them: `ringmaster experiments export EXPERIMENT --out DIRECTORY`, `ringmaster models export MODEL --format FORMAT`",
    );
  }
}

/**
 * Checks the layout of a data directory without writing.
 * @throws LayoutError
 */
export function checkLayout(data: string): void {
  const hasData = ["layout.json", "dynamodb", "s3"].some((name) => existsSync(join(data, name)));
  if (!hasData) return;
  const stored = layoutOf(data);
  if (stored !== layout) throw new LayoutError(data, stored);
}

export function keepLayout(data: string): void {
  const file = fileOf(data);
  if (!existsSync(file)) {
    writeFileSync(`${file}.tmp`, JSON.stringify({ layout }), { flush: true });
    renameSync(`${file}.tmp`, file);
  }
  syncDirectory(data);
}

function layoutOf(data: string): unknown {
  try {
    return (JSON.parse(readFileSync(fileOf(data), "utf8")) as { readonly layout?: unknown }).layout;
  } catch {
    return undefined;
  }
}

function fileOf(data: string): string {
  return join(data, "layout.json");
}
