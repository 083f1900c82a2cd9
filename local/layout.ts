import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** How keys in the tables and in the bucket are made; it goes up whenever data that were written before could no longer be found. */
export const layout = 2;

/** Where there are services' data, and no number: before there were numbers. */
const firstLayout = 1;

/** The data are of another layout than this version keeps. */
export class LayoutError extends Error {
  constructor(data: string, found: number | "unknown") {
    const age = found === "unknown" || found > layout ? "a newer" : "an older";
    super(
      `${data} holds data of layout ${found}, of ${age} version of Ringmaster; this version uses layout ${layout}. No data was changed. ` +
        `Choose another directory with --data DIRECTORY, or move this one away (mv ${data} ${data}.layout-${found}) and push the datasets again`,
    );
    this.name = "LayoutError";
  }
}

/** Reads only. @throws LayoutError */
export function checkLayout(data: string): void {
  const found = layoutOf(data);
  if (found !== undefined && found !== layout) throw new LayoutError(data, found);
}

/** Says which layout the data are of, before there are any. */
export function keepLayout(data: string): void {
  const file = fileOf(data);
  if (existsSync(file)) return;
  writeFileSync(`${file}.tmp`, JSON.stringify({ layout }));
  renameSync(`${file}.tmp`, file);
}

function layoutOf(data: string): number | "unknown" | undefined {
  if (existsSync(fileOf(data))) return numberIn(readFileSync(fileOf(data), "utf8"));
  return ["dynamodb", "s3"].some((service) => existsSync(join(data, service))) ? firstLayout : undefined;
}

function numberIn(text: string): number | "unknown" {
  try {
    const { layout: found } = JSON.parse(text) as { readonly layout?: unknown };
    return typeof found === "number" ? found : "unknown";
  } catch {
    return "unknown";
  }
}

function fileOf(data: string): string {
  return join(data, "layout.json");
}
