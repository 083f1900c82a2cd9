import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import path from "node:path";
import { setTimeout } from "node:timers";

/** A decoded map takes tens of MiB. */
const keptMs = 5_000;
/** Maps by bundle; undefined where a file has none. Empty `keptMs` after the last trace that read one. */
const maps = new Map<string, SourceMap | undefined>();

let timer: NodeJS.Timeout | undefined;

/**
 * Shows positions in the sources where a stack trace refers to a bundle with a map next to it. A map is read with the first
 * trace; `--enable-source-maps` would read it at each start of a process. Errors of connections keep the positions in the
 * bundle: Node.js computes a trace whenever a connection breaks, and the map would be read at the end of each gang.
 */
export function mapStackTraces(): void {
  Error.prepareStackTrace = (error, frames) =>
    [header(error), ...frames.map(isOfConnection(error) ? String : describe)].join("\n    at ");
}

function isOfConnection({ syscall }: NodeJS.ErrnoException): boolean {
  return syscall === "connect" || syscall === "read" || syscall === "write" || syscall === "shutdown";
}

/** Returns the first line of a trace as Node.js writes it: its own errors contain their code. */
function header(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  const text = Error.prototype.toString.call(error);
  if (typeof code !== "string" || !code.startsWith("ERR_")) return text;
  return text.replace(error.name, `${error.name} [${code}]`);
}

function describe(frame: NodeJS.CallSite): string {
  const text = String(frame);
  const file = frame.getFileName();
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
  if (!file || line === null || column === null) return text;
  const entry = mapOf(file)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !("originalSource" in entry)) return text;
  const source = path.resolve(path.dirname(file), entry.originalSource);
  return text.replace(`${file}:${line}:${column}`, `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, file.endsWith(".js") ? read(`${file}.map`) : undefined);
  timer ??= setTimeout(() => maps.clear(), keptMs).unref();
  timer.refresh();
  return maps.get(file);
}

function read(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, "utf8")) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
