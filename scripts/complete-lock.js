/**
 * Completes or checks package-lock.json.
 *
 *     node scripts/complete-lock.js             after a change of dependencies: adds what npm leaves out
 *     node scripts/complete-lock.js --check     before an installation: exits with 1 where the lock is incomplete
 *
 * npm records the packages of other platforms only where it sees them when it writes the lock (npm/cli#4828), and it may
 * leave out `resolved`. Without their entries `npm ci` fails on other platforms; without `integrity` it installs
 * whatever bytes the registry sends.
 */
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

/** npm replaces this host by that of the configured registry (`replace-registry-host`). */
const registry = "https://registry.npmjs.org";

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

/** Packages that `npm ci` fetches: not the root, workspaces, links, or what is inside another package's archive. */
function fetchedEntries(lock) {
  return Object.entries(lock.packages).filter(
    ([place, { link, inBundle }]) => place.includes("node_modules/") && !link && !inBundle,
  );
}

function tarballOf(name, version) {
  return `${registry}/${name}/-/${name.split("/").at(-1)}-${version}.tgz`;
}

function nameOf(place, entry) {
  return entry.name ?? place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** @returns {string[]} one sentence for each entry that `npm ci` could not verify. */
function problemsOf(lock) {
  const problems = [...missingEntries(lock)].map(([name, version]) => `${name}@${version} has no entry`);
  for (const [place, entry] of fetchedEntries(lock)) {
    const title = `${place} (${entry.version})`;
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? ""))
      problems.push(`${title} has no SHA-512 in "integrity"`);
    if (!entry.resolved?.startsWith(`${registry}/`))
      problems.push(`${title} has no address at ${registry} in "resolved"`);
  }
  return problems;
}

/**
 * Reads what the registry publishes for a version, as a lock's entry.
 *
 * @throws Error where the registry does not have it: another version of the package that names it is needed.
 */
function publishedEntry(name, version) {
  let published;
  try {
    const args = ["view", `${name}@${version}`, "--json", "--loglevel=silent"];
    published = JSON.parse(execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    throw new Error(
      `the registry does not have ${name}@${version}: choose a version of its parent whose packages are all published`,
    );
  }
  const { cpu, os, libc, engines, license } = published;
  const { integrity } = published.dist;
  return { version, resolved: tarballOf(name, version), integrity, cpu, libc, license, optional: true, os, engines };
}

function complete(lock, published = publishedEntry) {
  const packages = { ...lock.packages };
  for (const [name, version] of missingEntries(lock)) packages[`node_modules/${name}`] = published(name, version);
  for (const [place, entry] of fetchedEntries({ packages })) {
    const { version, resolved, integrity, ...rest } = entry;
    const name = nameOf(place, entry);
    packages[place] = {
      version,
      resolved: resolved ?? tarballOf(name, version),
      integrity: integrity ?? published(name, version).integrity,
      ...rest,
    };
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, "en"));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

function main([option, file = path.resolve(__dirname, "..", "package-lock.json")]) {
  const lock = JSON.parse(fs.readFileSync(file, "utf8"));
  if (option !== "--check") return fs.writeFileSync(file, `${JSON.stringify(complete(lock), null, 2)}\n`);
  const problems = problemsOf(lock);
  if (problems.length === 0) return undefined;
  process.exitCode = 1;
  const advice = "Run node scripts/complete-lock.js and review what it changes.";
  return process.stderr.write(`${file} is incomplete:\n  ${problems.join("\n  ")}\n${advice}\n`);
}

module.exports = { complete, fetchedEntries, nameOf, problemsOf };
if (require.main === module) main(process.argv.slice(2));
