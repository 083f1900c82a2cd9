import { SourceMap } from "node:module";
import path from "node:path";
import { isNativeError } from "node:util/types";

/** Training modules have file names in this folder, which does not exist. */
export const moduleFolder = "/ringmaster-module";

interface ModuleSource {
  /** The user's file, relative to the job file. */
  readonly name: string;
  readonly map: SourceMap | undefined;
}

/** Sources of the training modules that this process has loaded, by the file name in their stack frames. */
const sources = new Map<string, ModuleSource>();

const inlineMap = /^\/\/# sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([\w+/=]+)\s*$/m;

/** Registers a bundle's file name, so that its stack frames are recognized and mapped by its inline source map. */
export function registerSource(filename: string, name: string, bundle: string): void {
  const encoded = inlineMap.exec(bundle)?.[1];
  sources.set(filename, { name, map: encoded === undefined ? undefined : parseMap(encoded) });
}

/** Returns the position in the user's files where an error, or its cause, was thrown: `model.ts:3:11`. */
export function userFrame(error: unknown): string | undefined {
  // Without a training module, no stack is read: its first reading takes a source map.
  if (sources.size === 0 || !isNativeError(error)) return undefined;
  const [place] = (error.stack ?? "").matchAll(frames());
  return place === undefined ? userFrame(error.cause) : placeOf(...(place as unknown as Frame));
}

/** Rewrites the frames of an error's stack, and of its causes' stacks, to the lines of the user's files. Idempotent. */
export function mapStacks(error: unknown): void {
  for (let one = error; isNativeError(one); one = one.cause) {
    one.stack = one.stack?.replace(frames(), (...match) => placeOf(...(match as unknown as Frame)));
  }
}

type Frame = readonly [whole: string, filename: string, line: string, column: string];

function frames(): RegExp {
  const names = [...sources.keys()].map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return names.length === 0 ? /(?!)/g : new RegExp(`(${names.join("|")}):(\\d+):(\\d+)`, "g");
}

function placeOf(...[, filename, line, column]: Frame): string {
  const { name, map } = sources.get(filename)!;
  const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !("originalSource" in entry)) return `${name}:${line}:${column}`;
  const file = path.posix.join(path.posix.dirname(name), entry.originalSource);
  return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function parseMap(encoded: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString("utf8")));
  } catch {
    return undefined; // frames then have the bundle's lines
  }
}
