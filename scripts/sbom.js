#!/usr/bin/env node
/**
 * Writes the software bill of materials and the list of licences:
 *
 *     node scripts/sbom.js [--out DIRECTORY]
 *
 * `sbom.cdx.json` (CycloneDX, by `npm sbom`) has every package of the lockfile with its digest, and the downloads of the
 * native installer. `licences.md` has them by licence. Fails where a licence is not allowed.
 */
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { parseArgs } = require("node:util");
const { fetchedEntries, nameOf } = require("./complete-lock.js");
const { wheels } = require("../trainer-container/native/digests.js");

const root = path.resolve(__dirname, "..");

/** SPDX identifiers. Permissive, and CC-BY-4.0 for data (caniuse-lite, which only builds use). */
const allowedLicences = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC-BY-4.0",
  "CC0-1.0",
  "ISC",
  "MIT",
];

/** Returns whether an SPDX expression can be met by allowed licences. Nested expressions count as unknown. */
function isAllowed(expression) {
  const terms = (expression ?? "").replace(/^\((.*)\)$/, "$1");
  if (/[()]/.test(terms)) return false;
  return terms.split(" OR ").some((choice) => choice.split(" AND ").every((id) => allowedLicences.includes(id)));
}

/** Packages of a lock, apart from the platform's own: name, version and SPDX expression. */
function licencesOf(lock) {
  return Object.entries(lock.packages)
    .filter(([place, { link }]) => place.includes("node_modules/") && !link)
    .map(([place, entry]) => ({ name: nameOf(place, entry), version: entry.version, licence: entry.license }));
}

/** @throws Error that names each package whose licence is not allowed. */
function checkLicences(packages) {
  const refused = packages.filter(({ licence }) => !isAllowed(licence));
  if (refused.length === 0) return;
  const named = refused.map(({ name, version, licence }) => `${name}@${version} (${licence ?? "no licence"})`);
  throw new Error(`licences that scripts/sbom.js does not allow: ${named.join(", ")}`);
}

function licenceList(packages) {
  const byLicence = new Map();
  for (const { name, version, licence } of packages)
    byLicence.set(licence, new Set(byLicence.get(licence)).add(`${name}@${version}`));
  const sections = [...byLicence].sort(([a], [b]) => a.localeCompare(b, "en"));
  return [
    "# Licences of the packages that package-lock.json names",
    ...sections.map(([licence, names]) => `## ${licence}\n\n${[...names].sort().join(", ")}`),
    "",
  ].join("\n\n");
}

function softwareBill(lock) {
  const { name } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const args = [
    "sbom",
    "--package-lock-only",
    "--sbom-format=cyclonedx",
    "--sbom-type=application",
    "--loglevel=error",
  ];
  const output = execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 });
  const bill = JSON.parse(output);
  // npm names the application after the checkout's folder.
  bill.metadata.component.name = name;
  // npm lists a version once, and without its digest where another package's archive has a copy of it.
  const digests = digestsOf(lock);
  for (const component of bill.components) {
    const content = digests.get(component["bom-ref"]);
    if (content !== undefined) component.hashes = [{ alg: "SHA-512", content }];
  }
  bill.components.push(...Object.entries(wheels.sha256).map(([file, digest]) => wheelComponent(file, digest)));
  return bill;
}

/** `name@version` → SHA-512 in hexadecimal digits, of each package that npm fetches. */
function digestsOf(lock) {
  return new Map(
    fetchedEntries(lock).map(([place, entry]) => [
      `${nameOf(place, entry)}@${entry.version}`,
      Buffer.from(entry.integrity.slice("sha512-".length), "base64").toString("hex"),
    ]),
  );
}

function wheelComponent(file, content) {
  const project = file.split("-")[0].replaceAll("_", "-");
  const purl = `pkg:pypi/${project}@${wheels.version}?file_name=${file}`;
  return {
    ...{ "bom-ref": purl, type: "library", name: project, version: wheels.version, scope: "optional", purl },
    hashes: [{ alg: "SHA-256", content }],
    licenses: [{ license: { id: "Apache-2.0" } }],
  };
}

/** @returns {string} the folder with both files */
function writeBill(folder) {
  const lock = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const packages = licencesOf(lock);
  checkLicences(packages);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "sbom.cdx.json"), `${JSON.stringify(softwareBill(lock), null, 1)}\n`);
  fs.writeFileSync(path.join(folder, "licences.md"), licenceList(packages));
  return folder;
}

module.exports = { checkLicences, licencesOf, writeBill };
if (require.main === module) {
  const { values } = parseArgs({ options: { out: { type: "string", default: path.join(root, "sbom") } } });
  process.stdout.write(`${writeBill(path.resolve(values.out))}\n`);
}
