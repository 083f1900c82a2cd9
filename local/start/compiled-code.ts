import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import Module from "node:module";
import path from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { isMainThread } from "node:worker_threads";

type Compile = (this: NodeJS.Module, content: string, filename: string, ...rest: readonly unknown[]) => unknown;

/** Smaller modules compile faster than a file is read. */
const minLength = 20_000;
/** The wrapper of a module excludes a first line for shells, and code from V8's cache cannot run `import()`. */
const unsupported = /^#!|\bimport\s*\((?!\))/;
/** The time after which a process or thread that may be killed writes a module's code. Threads often end early. */
const writeAfterMs = isMainThread ? 2_000 : 250;

/**
 * Keeps the compiled code of large modules in `<bundles>/compiled`, from which V8 loads it in a fraction of the time of
 * a compilation. This concerns the bundles in a directory and modules in `node_modules`. A process writes the code of
 * the functions that it has run, at its exit or shortly after the start. V8 rejects code of another version or source.
 */
export function keepCompiledCode(bundles: string): void {
  const directory = path.join(bundles, "compiled");
  const prototype = Module.prototype as unknown as { _compile: Compile };
  const compile = prototype._compile;
  prototype._compile = function (content, filename, ...rest) {
    const isOurs = path.dirname(filename) === bundles || filename.startsWith(path.join(bundles, "lambdas"));
    const kept = isOurs || filename.includes(`${path.sep}node_modules${path.sep}`);
    const isCommonJs = rest[0] === undefined || rest[0] === "commonjs";
    if (!kept || !isCommonJs || content.length < minLength || unsupported.test(content)) {
      return compile.call(this, content, filename, ...rest);
    }
    const script = load(content, filename, path.join(directory, fileName(filename)));
    const run = script.runInThisContext() as (...parameters: readonly unknown[]) => unknown;
    const require = Module.createRequire(filename);
    return run.call(this.exports, this.exports, require, this, filename, path.dirname(filename));
  };
}

/** Code depends on the version and flags of V8, and on the module. */
function fileName(filename: string): string {
  const { size, mtimeMs } = statSync(filename);
  const hash = createHash("sha256").update([filename, size, mtimeMs, cachedDataVersionTag()].join("\0"));
  return `${path.basename(filename, ".js")}-${hash.digest("hex").slice(0, 16)}`;
}

function load(content: string, filename: string, file: string): Script {
  const [before = "", after = ""] = (Module as unknown as { wrapper: readonly string[] }).wrapper;
  const cachedData = read(file);
  const script = new Script(`${before}${content}${after}`, {
    filename,
    columnOffset: -before.length,
    cachedData,
  });
  if (cachedData === undefined || script.cachedDataRejected) writeLater(script, file);
  return script;
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function writeLater(script: Script, file: string): void {
  const write = () => {
    process.removeListener("exit", write);
    clearTimeout(timer);
    writeCode(script, file);
  };
  const timer = setTimeout(write, writeAfterMs).unref();
  process.once("exit", write);
}

/** Writes a whole file or none. Without a directory that accepts it, each process compiles its modules. */
function writeCode(script: Script, file: string): void {
  const temporary = `${file}.${process.pid}`;
  try {
    accessSync(path.dirname(path.dirname(file)), constants.W_OK);
    mkdirSync(path.dirname(file), { recursive: true });
    const descriptor = openSync(temporary, "wx");
    try {
      writeFileSync(descriptor, script.createCachedData());
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch {
    // The directory is read-only, the disk is full, or a thread of this process writes the same file.
  }
}
