import { readFileSync } from "node:fs";
import { join } from "node:path";

const { missingEntries } = require("../scripts/complete-lock.js") as {
  missingEntries(lock: unknown): ReadonlyMap<string, string>;
};

describe("package-lock.json", () => {
  const lock = JSON.parse(readFileSync(join(__dirname, "..", "package-lock.json"), "utf8"));

  it("has the packages of every platform, so that npm ci works on each (else: node scripts/complete-lock.js)", () => {
    expect([...missingEntries(lock).keys()]).toEqual([]);
  });

  it("pins what the manifests ask for", () => {
    for (const place of ["", "trainer-container"]) {
      const { dependencies = {}, devDependencies = {} } = lock.packages[place];
      for (const version of Object.values({ ...dependencies, ...devDependencies })) expect(version).toMatch(/^\d/);
    }
  });
});
