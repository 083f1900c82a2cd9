/**
 * Completes package-lock.json after a change of dependencies: `node scripts/complete-lock.js`.
 *
 * npm records the packages of other platforms only where it sees them when it writes the lock (npm/cli#4828); without their entries `npm ci`
 * fails, or other platforms go without their binaries. They have the version that their parent names, and no dependencies.
 */
const fs = require("node:fs");
const path = require("node:path");

const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm64", "arm", "ia32", "loong64", "ppc64", "riscv64", "s390x", "x64"];

/** Optional dependencies that a lock names and has no entry for: name → version. */
function missingEntries(lock) {
  const missing = new Map();
  for (const [place, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const known = [`${place}/node_modules/${name}`, `node_modules/${name}`].some((at) => at in lock.packages);
      if (!known) missing.set(name, version);
    }
  }
  return missing;
}

/** Which platform a package is for, by its name: `@swc/core-linux-arm-gnueabihf`. */
function platformOf(name) {
  const words = name.split("/").at(-1).split(/[-.]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  if (os.length !== 1 || cpu.length !== 1)
    throw new Error(`${name}: its name does not tell its platform; add it by hand`);
  const libc = words.some((word) => word.startsWith("musl"))
    ? ["musl"]
    : words.some((word) => word.startsWith("gnu"))
      ? ["glibc"]
      : undefined;
  return { os, cpu, ...(libc && os[0] === "linux" ? { libc } : {}) };
}

function complete(lock) {
  const added = [...missingEntries(lock)].map(([name, version]) => [
    `node_modules/${name}`,
    { version, optional: true, ...platformOf(name) },
  ]);
  const entries = [...Object.entries(lock.packages), ...added].sort(([a], [b]) => a.localeCompare(b, "en"));
  return { ...lock, packages: Object.fromEntries(entries) };
}

module.exports = { complete, missingEntries };
if (require.main === module) {
  const file = path.resolve(__dirname, "..", "package-lock.json");
  const lock = JSON.parse(fs.readFileSync(file, "utf8"));
  const count = missingEntries(lock).size;
  fs.writeFileSync(file, `${JSON.stringify(complete(lock), null, 2)}\n`);
  process.stdout.write(`${count} entries added\n`);
}
