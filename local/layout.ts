import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory } from "../adapters/files/directory";

/**
 * The version of the key format in the tables and in the bucket. It increases whenever data of earlier versions could
 * no longer be found.
 */
const layout = 2;

/** The layout of data without a recorded version. Releases before the layout file wrote it. */
const firstLayout = 1;

/** The data directory has another layout than this release supports, or its layout file is damaged. */
export class LayoutError extends Error {
  constructor(data: string, found: number | "damaged") {
    super(
      found === "damaged"
        ? `${fileOf(data)} is damaged or missing. No data was changed. If this version wrote the data, restore the file with the text ${text}; ` +
            "restore a backup otherwise"
        : `${data} holds data of layout ${found}, of ${found > layout ? "a newer" : "an older"} version of Ringmaster; ` +
            `this version uses layout ${layout} (layout.json). No data was changed. ` +
            `Choose another directory with --data DIRECTORY, or move this one away (mv ${data} ${data}.layout-${found}) and push the datasets again`,
    );
    this.name = "LayoutError";
  }
}

const text = JSON.stringify({ layout });

/**
 * Checks the layout of a data directory without writing.
 * @throws LayoutError
 */
export function checkLayout(data: string): void {
  const found = layoutOf(data);
  if (found !== undefined && found !== layout) throw new LayoutError(data, found);
}

/** Records the layout of a new data directory durably. */
export function keepLayout(data: string): void {
  const file = fileOf(data);
  if (!existsSync(file)) {
    writeFileSync(`${file}.tmp`, text, { flush: true });
    renameSync(`${file}.tmp`, file);
  }
  syncDirectory(data);
}

function layoutOf(data: string): number | "damaged" | undefined {
  if (existsSync(fileOf(data))) return numberIn(readFileSync(fileOf(data), "utf8"));
  // Seals were introduced after the layout file, so a directory with seals had one.
  if (existsSync(join(data, "seals", "dynamodb.seal"))) return "damaged";
  return ["dynamodb", "s3"].some((service) => existsSync(join(data, service))) ? firstLayout : undefined;
}

function numberIn(content: string): number | "damaged" {
  try {
    const { layout: found } = JSON.parse(content) as { readonly layout?: unknown };
    return typeof found === "number" ? found : "damaged";
  } catch {
    return "damaged";
  }
}

function fileOf(data: string): string {
  return join(data, "layout.json");
}
