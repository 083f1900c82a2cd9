import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { ensureBuild } from "../../../scripts/build.js";
import { temporaryFolder } from "../../support/temporary-folder";

const ballast = `\n/*! ${"x".repeat(20_000)} */`;
const folder = temporaryFolder("preload");
let bundles = "";

beforeEach(() => {
  bundles = mkdtempSync(join(folder, "test-"));
  copyFileSync(join(ensureBuild(), "preload.js"), join(bundles, "preload.js"));
});

function run(code?: string, name = "main.js", ...flags: readonly string[]): string {
  if (code !== undefined) writeFileSync(join(bundles, name), code + ballast);
  const args = [...flags, "--require", join(bundles, "preload.js"), join(bundles, name)];
  return execFileSync(process.execPath, args, { encoding: "utf8" }).trim();
}

const kept = () =>
  readdirSync(join(bundles, "compiled")).map((name) => `${name}:${statSync(join(bundles, "compiled", name)).ino}`);

describe("compiled code", () => {
  it("is written by one process and used by the next", () => {
    expect(run("console.log(__filename, require.main === module);")).toBe(`${join(bundles, "main.js")} true`);
    const written = kept();
    expect(written).toHaveLength(1);
    expect(run()).toBe(`${join(bundles, "main.js")} true`);
    expect(kept()).toEqual(written);
  });

  it("of a module that has changed is not used", () => {
    expect(run("console.log('one');")).toBe("one");
    expect(run("console.log('other');")).toBe("other");
    expect(kept()).toHaveLength(2);
  });

  it.each([0, 10, 200])("that was cut to %d bytes is replaced", (length) => {
    run("console.log('whole');");
    const written = kept();
    truncateSync(join(bundles, "compiled", written[0]!.split(":")[0]!), length);
    expect(run()).toBe("whole");
    const replaced = kept();
    expect(replaced).not.toEqual(written);
    expect(run()).toBe("whole");
    expect(kept()).toEqual(replaced);
  });

  it("is not kept where the directory cannot be made", () => {
    writeFileSync(join(bundles, "compiled"), "");
    expect(run("console.log('compiled');")).toBe("compiled");
    expect(run()).toBe("compiled");
  });

  it("is not kept of a module with import(), which V8 could not run from it", () => {
    for (let i = 0; i < 2; i++) {
      expect(run("import('node:path').then(({ sep }) => console.log(sep.length));")).toBe("1");
    }
    expect(readdirSync(bundles)).not.toContain("compiled");
  });

  it("is kept for threads, and for a process that is killed", () => {
    const thread = "setInterval(() => require('fs').existsSync(__dirname + '/compiled') && process.exit(), 20);";
    writeFileSync(join(bundles, "thread.js"), thread + ballast);
    run(
      "const t = new (require('worker_threads').Worker)(__dirname + '/thread.js'); t.on('exit', () => process.exit());",
    );
    expect(kept().map((file) => file.split("-")[0])).toEqual(expect.arrayContaining(["main", "thread"]));
    const killed = `const found = () => require('fs').readdirSync(__dirname + '/compiled').some((f) => f.startsWith('killed'));
      setInterval(() => found() && process.kill(process.pid, 'SIGKILL'), 20);`;
    expect(() => run(killed, "killed.js")).toThrow(expect.objectContaining({ signal: "SIGKILL" }));
  });
});

it("a limit of the heap holds, but Node.js's own modules are loaded from compiled code as without one", () => {
  const code =
    "const v8 = require('v8'); console.log(v8.cachedDataVersionTag(), v8.getHeapStatistics().heap_size_limit >> 20);";
  const [unlimited] = run(code).split(" ");
  const [limited, megabytes] = run(undefined, "main.js", "--max-old-space-size=64").split(" ");
  expect(limited).toBe(unlimited);
  expect(Number(megabytes)).toBeLessThan(200);
});

describe("a stack trace", () => {
  function trace(source: string): readonly string[] {
    writeFileSync(join(bundles, "source.ts"), source);
    const [entry, outfile] = [join(bundles, "source.ts"), join(bundles, "main.js")];
    buildSync({ entryPoints: [entry], outfile, bundle: true, platform: "node", sourcemap: true });
    return run().split("\n");
  }

  it("has positions in the sources, also when the compiled code is loaded", () => {
    const source = 'interface A {\n  a: 1;\n}\nfunction fail(a?: A) {\n  throw new RangeError("no " + a);\n}\n';
    const code = `${source}try {\n  fail();\n} catch (error) {\n  console.log((error as Error).stack);\n}\n`;
    for (let i = 0; i < 2; i++) {
      const [header, first] = trace(`${code}console.log("${"x".repeat(20_000)}".length);`);
      expect(header).toBe("RangeError: no undefined");
      expect(first).toBe(`    at fail (${join(bundles, "source.ts")}:5:9)`);
    }
  });

  it("has the code of an error of Node.js", () => {
    const lines = trace("try {\n  Buffer.alloc(-1);\n} catch (error) {\n  console.log((error as Error).stack);\n}");
    expect(lines[0]).toMatch(/^RangeError \[ERR_OUT_OF_RANGE\]: The value of "size" is out of range/);
    expect(lines.join("\n")).toContain(`${join(bundles, "source.ts")}:2:10`);
  });

  it.each([
    ["open", "has positions in the sources for an error of a file", "source.ts:2:"],
    ["write", "reads no map for an error of a connection, which Node.js raises often", "main.js:"],
  ])("of %s %s", (syscall, _what, position) => {
    const lines = trace(
      `const raise = () =>\n  Object.assign(new Error("broken"), { syscall: "${syscall}" });\nconsole.log(raise().stack);`,
    );
    expect(lines[0]).toBe("Error: broken");
    expect(lines[1]).toContain(position);
  });
});
