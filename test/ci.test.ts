import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rest as omitted } from "../scripts/test.js";

const root = join(__dirname, "..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<"test" | "test:rest" | "verify", string>>;
};
const testFiles = readdirSync(__dirname, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => `test/${file}`);

/** A test that nothing runs goes wrong unnoticed. */
describe("the continuous integration", () => {
  it("runs what `npm test` omits by `npm run test:rest`", () => {
    expect([scripts.test, scripts["test:rest"]]).toEqual(["node scripts/test.js", "node scripts/test.js rest"]);
  });

  it("runs both, and the quickstart", () => {
    const ci = readFileSync(join(root, ".ci/run"), "utf8");
    for (const name of ["verify", "test:rest", "quickstart"]) expect(ci).toMatch(new RegExp(`^npm run ${name}$`, "m"));
    expect(scripts.verify).toMatch(/&& node scripts\/verify\.js$/);
    expect(readFileSync(join(root, "scripts/verify.js"), "utf8")).toContain('check("test"');
  });

  it.each(omitted)("names files by %s", (pattern) => {
    expect(testFiles.filter((file) => new RegExp(`^${pattern}`).test(file))).not.toEqual([]);
  });

  it.each(["newcomer", "spine", "study", "restore", "triggers", "reproduce", "teams", "policy"])(
    "has the user's journey %s in verify, which also packs",
    (journey) => {
      const file = `test/e2e/${journey}.test.ts`;
      expect(testFiles).toContain(file);
      expect(omitted.filter((pattern) => new RegExp(pattern).test(file))).toEqual([]);
    },
  );
});

it("no test imports a benchmark", () => {
  const sources = readdirSync(__dirname, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const importing = sources.filter((file) =>
    /from "(\.\.\/)+bench\//.test(readFileSync(join(__dirname, file), "utf8")),
  );
  expect(importing).toEqual([]);
});
