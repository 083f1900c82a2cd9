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
    [
      "data from before there were numbers",
      () => mkdirSync(join(data, "dynamodb")),
      /holds data of layout 1, of an older version/,
    ],
    ["an older number", () => writeFileSync(join(data, "layout.json"), '{"layout":1}'), /layout 1, of an older/],
    ["a newer number", () => writeFileSync(join(data, "layout.json"), '{"layout":3}'), /layout 3, of a newer/],
    [
      "a number that cannot be read",
      () => writeFileSync(join(data, "layout.json"), "{"),
      /layout\.json is damaged or missing/,
    ],
  ])("refuses %s, and touches nothing", (_what, prepare, message) => {
    prepare();
    const before = readdirSync(data);
    expect(() => checkLayout(data)).toThrow(LayoutError);
    expect(() => checkLayout(data)).toThrow(message);
    expect(() => checkLayout(data)).toThrow(/No data was changed.*(--data DIRECTORY.*mv |restore the file)/);
    expect(readdirSync(data)).toEqual(before);
  });

  it("refuses data of this release without a layout number", () => {
    mkdirSync(join(data, "seals"));
    writeFileSync(join(data, "seals", "dynamodb.seal"), "");
    expect(() => checkLayout(data)).toThrow(
      `layout.json is damaged or missing. No data was changed. If this version wrote`,
    );
  });
});
