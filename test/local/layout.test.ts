import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkLayout, keepLayout, LayoutError } from "../../local/layout";

describe("the layout of a data directory", () => {
  let data: string;
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), "layout-"));
  });
  afterEach(() => rmSync(data, { recursive: true }));

  it("is recorded in a new directory, and found again", () => {
    checkLayout(data);
    keepLayout(data);
    mkdirSync(join(data, "dynamodb"));
    checkLayout(data);
    keepLayout(data);
  });

  it.each([
    ["no number", () => mkdirSync(join(data, "dynamodb")), "layout unknown"],
    ["another number", () => writeFileSync(join(data, "layout.json"), '{"layout":1}'), "layout 1;"],
    ["a number that cannot be read", () => writeFileSync(join(data, "layout.json"), "{"), "layout unknown"],
  ])("refuses data with %s, names the commands, and changes nothing", (_what, prepare, message) => {
    prepare();
    const before = readdirSync(data);
    expect(() => checkLayout(data)).toThrow(LayoutError);
    expect(() => checkLayout(data)).toThrow(message);
    expect(() => checkLayout(data)).toThrow(/No data was changed.*up --data DIRECTORY.*experiments export/);
    expect(readdirSync(data)).toEqual(before);
  });
});
