import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Entry = Readonly<Record<string, unknown>>;
interface Lock {
  readonly packages: Readonly<Record<string, Entry>>;
}
type Published = (name: string, version: string) => Entry;

const script = join(__dirname, "..", "scripts", "complete-lock.js");
const { complete, problemsOf } = require(script) as {
  complete(lock: Lock, published: Published): Lock;
  problemsOf(lock: Lock): readonly string[];
};
const lock = JSON.parse(readFileSync(join(__dirname, "..", "package-lock.json"), "utf8")) as Lock & {
  readonly packages: Readonly<Record<string, { dependencies?: object; devDependencies?: object }>>;
};

/** The lock with some fields of one entry changed. */
const changed = (place: string, fields: Entry): Lock => ({
  ...lock,
  packages: { ...lock.packages, [place]: { ...lock.packages[place], ...fields } },
});

/** Packages that declare an install script. `ignore-scripts` in .npmrc keeps npm from running any of them. */
const withInstallScript = [
  "@parcel/watcher",
  "@swc/core",
  "@tensorflow/tfjs-node-gpu",
  "classic-level",
  "core-js",
  "esbuild",
  "protobufjs",
  "unrs-resolver",
];

describe("package-lock.json", () => {
  it("has an address and a digest of every package of every platform (else: node scripts/complete-lock.js)", () => {
    expect(problemsOf(lock)).toEqual([]);
  });

  it("pins what the manifests ask for", () => {
    for (const place of ["", "trainer-container"]) {
      const { dependencies = {}, devDependencies = {} } = lock.packages[place]!;
      for (const version of Object.values({ ...dependencies, ...devDependencies })) expect(version).toMatch(/^\d/);
    }
  });

  it("has the version of DuckDB's library that the guide installs", () => {
    const { version } = lock.packages["node_modules/@duckdb/node-bindings-linux-x64"]!;
    const guide = readFileSync(join(__dirname, "..", "docs/deploy.md"), "utf8");
    expect(guide).toContain(` @duckdb/node-bindings-linux-x64@${version}\n`);
  });

  it("has only known packages with install scripts, and npm runs none of them", () => {
    const found = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(found.map(([place]) => place.replace("node_modules/", ""))).toEqual(withInstallScript);
    expect(readFileSync(join(__dirname, "..", ".npmrc"), "utf8")).toMatch(/^ignore-scripts=true$/m);
  });

  it("is checked before npm installs anything", () => {
    const { scripts } = JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8"));
    for (const name of ["verify", "quickstart"])
      expect(scripts[name]).toMatch(/^node scripts\/complete-lock\.js --check && npm ci /);
  });
});

describe("scripts/complete-lock.js", () => {
  const place = "node_modules/zod";
  const { version, integrity, resolved } = lock.packages[place] as Readonly<Record<string, string>>;
  const noDigest = `${place} (${version}) has no SHA-512 in "integrity"`;
  const noAddress = `${place} (${version}) has no address at https://registry.npmjs.org in "resolved"`;

  it.each<[string, Entry, string]>([
    ["no digest", { integrity: undefined }, noDigest],
    ["a digest that can be forged", { integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }, noDigest],
    ["a short digest", { integrity: "sha512-AAAA" }, noDigest],
    ["no address", { resolved: undefined }, noAddress],
    ["another host", { resolved: "https://example.com/zod.tgz" }, noAddress],
    ["a host that begins like the registry's", { resolved: "https://registry.npmjs.org.example.com/z" }, noAddress],
    ["an address without TLS", { resolved: "http://registry.npmjs.org/zod/-/zod-1.tgz" }, noAddress],
  ])("names a package with %s", (_title, fields, problem) => {
    expect(problemsOf(changed(place, fields))).toEqual([problem]);
  });

  it("fails with the package's name where a copy of the lock lacks one digest", () => {
    const folder = mkdtempSync(join(tmpdir(), "ringmaster-lock-"));
    try {
      const file = join(folder, "package-lock.json");
      writeFileSync(file, JSON.stringify(changed(place, { integrity: undefined })));
      const { status, stderr } = spawnSync(process.execPath, [script, "--check", file], { encoding: "utf8" });
      expect(status).toBe(1);
      expect(stderr).toContain(noDigest);
      expect(stderr).toContain("node scripts/complete-lock.js");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("restores what is missing from what the registry publishes", () => {
    const published = jest.fn<Entry, [string, string]>(() => ({ version, integrity }));
    const { packages } = complete(changed(place, { integrity: undefined, resolved: undefined }), published);
    expect(packages[place]).toEqual({ ...lock.packages[place], integrity, resolved });
    expect(published.mock.calls).toEqual([["zod", version]]);
  });

  it("adds the entry of another platform", () => {
    const { "node_modules/@esbuild/darwin-arm64": removed, ...rest } = lock.packages;
    const partial: Lock = { ...lock, packages: rest };
    expect(problemsOf(partial)).toEqual([`@esbuild/darwin-arm64@${removed!.version} has no entry`]);
    const { packages } = complete(partial, () => removed!);
    expect(packages["node_modules/@esbuild/darwin-arm64"]).toEqual(removed);
  });
});
