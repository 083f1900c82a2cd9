import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { findBinding, nativeFolder } from "../../../trainer-container/engine/native-binding";
import { visibleDevices } from "../../../trainer-container/engine/native-settings";

const script = path.resolve(__dirname, "../../../trainer-container/native/install.js");
const location = require("../../../trainer-container/native/location") as {
  readonly nativeFolder: typeof nativeFolder;
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "native-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The installer with a home and a PATH of the test's own: it finds no compiler and no Python. */
function install(...args: string[]): { readonly status: number | null; readonly stdout: string } {
  const env = { RINGMASTER_NATIVE_DIR: folder, PATH: folder, HOME: folder };
  return spawnSync(process.execPath, [script, ...args], { env, encoding: "utf8" });
}

describe("nativeFolder", () => {
  it.each<["cpu" | "gpu", NodeJS.ProcessEnv]>([
    ["cpu", {}],
    ["gpu", { XDG_CACHE_HOME: "/cache" }],
    ["cpu", { XDG_CACHE_HOME: "", RINGMASTER_NATIVE_DIR: "/native" }],
  ])("is where the installer puts it: %s %p", (library, environment) => {
    expect(nativeFolder(library, environment)).toBe(location.nativeFolder(library, environment));
  });

  it("is apart by library, platform and architecture, under the cache", () => {
    const expected = `/cache/ringmaster/native/4.22.0-6-gpu-${process.platform}-${process.arch}`;
    expect(nativeFolder("gpu", { XDG_CACHE_HOME: "/cache" })).toBe(expected);
  });
});

const environment = (): NodeJS.ProcessEnv => ({ RINGMASTER_NATIVE_DIR: folder });

/** Installs a binding as the installer does, and returns its file. */
function put(library: "cpu" | "gpu", manifest: string, content = ""): string {
  const target = nativeFolder(library, environment());
  mkdirSync(target, { recursive: true });
  writeFileSync(path.join(target, "native.json"), manifest);
  writeFileSync(path.join(target, "b.node"), content);
  return path.join(target, "b.node");
}

describe("findBinding", () => {
  it("reads the installer's manifest; the GPU's library serves the CPU too, not the other way round", () => {
    expect(findBinding("gpu", environment())).toBeUndefined();
    const gpu = put("gpu", '{"binding":"b.node"}');
    expect(findBinding("cpu", environment())).toBe(gpu);
    const cpu = put("cpu", '{"binding":"b.node"}');
    expect(findBinding("cpu", environment())).toBe(cpu);
    expect(findBinding("gpu", environment())).toBe(gpu);
  });

  it("passes over a damaged manifest and a missing file", () => {
    put("cpu", "{");
    expect(findBinding("cpu", environment())).toBeUndefined();
    put("cpu", '{"binding":"gone.node"}');
    expect(findBinding("cpu", environment())).toBeUndefined();
  });
});

describe("trainer-container/native/install.js", () => {
  it("says why there is no native binding, in one line, and does not fail", () => {
    const { status, stdout } = install();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^backend: WebAssembly \(no native TensorFlow: .*no C\+\+ compiler.*\)\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("says so for programs", () => {
    expect(JSON.parse(install("--json").stdout)).toMatchObject({
      backend: "wasm",
      reasons: [expect.stringMatching(/no C\+\+ compiler/)],
    });
  });

  it("throws away a binding that no longer works", () => {
    put("cpu", '{"binding":"b.node"}', "not a library");
    expect(install().stdout).toMatch(/WebAssembly/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("names the file of an installed binding whose bytes changed, and removes the binding", () => {
    const expected = createHash("sha256").update("the library").digest("hex");
    put("cpu", JSON.stringify({ binding: "b.node", files: { "b.node": expected } }), "the librarY");
    const found = createHash("sha256").update("the librarY").digest("hex");
    expect(install().stdout).toContain(`b.node has the sha256 ${found}, expected is ${expected}`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("does not fail on options that it does not know", () => {
    const { status, stdout } = install("--nonsense");
    expect(status).toBe(0);
    expect(stdout).toMatch(/WebAssembly \(.*nonsense/);
  });
});

describe("visibleDevices", () => {
  it.each<[number | undefined, string | undefined, string]>([
    [undefined, "0,1", "-1"],
    [0, undefined, "0"],
    [2, "", "2"],
    [1, "all", "1"],
    [1, "4,6", "6"],
    [0, "GPU-8f6e", "GPU-8f6e"],
  ])("GPU %p of %p → %p", (gpu, current, expected) => {
    expect(visibleDevices(gpu, current)).toBe(expected);
  });

  it("refuses a GPU that the process may not see", () => {
    expect(() => visibleDevices(2, "4,6")).toThrow(/GPU 2 was requested, but CUDA_VISIBLE_DEVICES shows 2: 4,6/);
    expect(() => visibleDevices(0, "-1")).toThrow(/GPU 0/);
  });
});
