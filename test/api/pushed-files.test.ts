import * as fs from "node:fs";
import * as path from "node:path";
import { callApp, useTestApp } from "../support/app";
import type { CliResult } from "../support/cli";
import { cliOverApp } from "../support/cli-over-app";
import { temporaryFolder } from "../support/temporary-folder";

describe("datasets push of files as they are", () => {
  const { app } = useTestApp({ checkResponses: true });
  let cli: Awaited<ReturnType<typeof cliOverApp>>;
  const directory = temporaryFolder("pushed-files");
  beforeAll(async () => {
    cli = await cliOverApp(app);
  });
  afterAll(async () => {
    await cli.stop();
  });

  const range = <Value>(count: number, value: (i: number) => Value): readonly Value[] =>
    Array.from({ length: count }, (_, i) => value(i));
  /** Writes and pushes a file, and returns the answer and the inferred columns. */
  async function push(
    file: string,
    lines: readonly string[],
    ...options: readonly string[]
  ): Promise<CliResult & { readonly schema: string }> {
    fs.writeFileSync(path.join(directory, file), `${lines.join("\n")}\n`);
    const schema = path.join(directory, `${file.split(".")[0]}.schema.yaml`);
    const result = await cli.run("datasets", "push", path.join(directory, file), ...options);
    return { ...result, schema: fs.existsSync(schema) ? fs.readFileSync(schema, "utf8") : "" };
  }

  it("reads a spreadsheet's export, and says what to check", async () => {
    const label = (i: number): string => (i === 50 ? "yes " : i === 51 ? "No/" : i % 2 ? "Yes" : "No");
    const row = (i: number): string =>
      [
        ...[i, i % 9 === 0 ? "NA" : 20 + (i % 50), ["NA", "DE", "FR"][i % 3], i === 70 ? "0042" : 100 + (i % 50)],
        ...[i % 3 ? `"1,${100 + i}.50"` : `"(1,${100 + i}.50)"`, i % 2 ? "$5" : i % 7],
        ...[
          `"I found this film number ${i} ${i % 2 ? "good" : "bad"}, really"`,
          `2024-01-0${1 + (i % 9)}`,
          label(i),
          "",
        ],
      ].join(",");
    const file = [",age,country,code,amount,fee,my review,since,answer,", ...range(120, row)];
    const { code, out, err, schema } = await push("export.csv", file, "--label", "answer");
    expect([code, err.match(/error.*/)]).toEqual([0, null]);
    expect(schema.split("\n").slice(2, -2)).toEqual([
      "  - { name: column_1, type: int, role: ignore, nullable: true }   # the numbers of rows, like an id",
      '  - { name: age, type: int, nullable: true, missing: ["NA"] }',
      '  - { name: country, type: string }   # "NA" is text; with missing: ["NA"], nullable: true it is missing',
      "  - { name: code, type: string }   # digits with zeros in front, like a postal code; with type int they are numbers",
      '  - { name: amount, type: float, format: "(1,234.5)" }',
      expect.stringContaining(
        '  - { name: fee, type: string }   # numbers that are written in different ways ("$5" and "0")',
      ),
      '  - { name: "my review", type: string }   # every row has a different text: a plan with ngrams reads them',
      "  - { name: since, type: timestamp }",
      "  - { name: answer, type: string, role: label }",
    ]);
    expect(err).toContain("\n  code: digits with zeros in front");
    const alike =
      'label answer has values that differ only by case, blanks or a mark at the end, and each is a class of its own: "No" (59 rows), "No/" (1 row); "Yes" (59 rows), "yes " (1 row). Write them alike';
    expect(out).toContain(`warning: ${alike}`);
    const { body } = await callApp(app, "GET", "/datasets/export/versions/1");
    const warnings: readonly { readonly code: string; readonly message: string }[] = body.version.warnings;
    expect(warnings.find(({ code }) => code === "ALIKE_VALUES")!.message).toContain(alike);
    expect(warnings.map(({ code }) => code)).toContain("DIFFERENT_TEXTS");
    expect((await cli.run("datasets", "show", "export", "--no-profile")).out).toContain(alike);

    const plan = out.slice(out.indexOf("\nfeatures:\n"));
    const job = path.join(directory, "job.yaml");
    const rest =
      "experiment: films\ndataset: export\nmodel: { type: mlp, hidden: [8] }\nhyperparameters: { epochs: 1 }\n";
    fs.writeFileSync(job, `${rest}${plan}`);
    const submitted = await cli.run("--json", "submit", job);
    expect([submitted.code, submitted.err]).toEqual([0, ""]);
  });

  it("accepts corrected columns until a run has read the dataset, and a dry run changes nothing", async () => {
    const rows = ["code,spend,bought", ...range(60, (i) => `${100 + (i % 50)},${i},${i % 2}`)];
    const label = ["--label", "bought"];
    const tried = await push("shop.csv", rows, ...label, "--dry-run");
    expect([tried.code, tried.schema]).toEqual([0, ""]);
    expect(tried.out).toMatch(/^shop@1 \(would be a new version\): 60 rows/m);
    expect(tried.err).toMatch(/schema would be written to .*shop\.schema\.yaml/);
    expect(await callApp(app, "GET", "/datasets/shop")).toMatchObject({ status: 404 });

    expect((await push("shop.csv", rows, ...label)).out).toContain("shop@1 (new version)");
    const correct = (from: RegExp, to: string): void => {
      const file = path.join(directory, "shop.schema.yaml");
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(from, to));
    };
    correct(/code, type: int/, "code, type: string");
    const planned = await push("shop.csv", rows, "--dry-run");
    expect(planned).toMatchObject({ code: 0, out: expect.stringContaining("shop@2 (would be a new version)") });
    expect((await callApp(app, "GET", "/datasets/shop")).body.version.manifest.version).toBe(1);
    const corrected = await push("shop.csv", rows);
    expect(corrected).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /shop@2 \(new version\)[\s\S]*warning: the columns differ from those of shop@1, which no run has read: column code/,
      ),
    });
    expect((await push("shop.csv", rows, "--dry-run", "--json")).out).toMatch(/"created":false,"dryRun":true/);

    const job = path.join(directory, "shop.yaml");
    fs.writeFileSync(job, "experiment: shop\ndataset: shop@1\nmodel: { type: mlp }\nhyperparameters: { epochs: 1 }\n");
    expect((await cli.run("submit", job)).code).toBe(0);
    correct(/spend, type: int/, "spend, type: float");
    for (const options of [["--dry-run"], []]) {
      const refused = await push("shop.csv", rows, ...options);
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--allow-schema-change") });
    }
    expect((await push("shop.csv", rows, "--allow-schema-change")).out).toContain("shop@3 (new version)");
  });

  it("suggests a contract that is accepted and holds, however many columns there are", async () => {
    const names = range(48, (i) => `c${i}`);
    const value = (row: number, column: number): string | number => {
      if (column % 4 === 1) return (row * (column + 3)) % 17;
      if (column % 4 === 2) return `group ${row % 5}`;
      return column % 4 === 3 ? ((row * column) % 7) ** 3 / 8 : row % 3 === 0 ? "" : row % 100 === 1 ? 5_000.5 : 0.25;
    };
    const rows = range(120, (row) => [row % 2, ...names.map((_, column) => value(row, column))].join(","));
    const pushed = await push("wide.csv", [["y", ...names].join(","), ...rows], "--label", "y");
    expect([pushed.code, pushed.err.match(/error.*/)]).toEqual([0, null]);
    const { out, err, code } = await cli.run("datasets", "infer-contract", "wide@1");
    expect([code, err]).toEqual([0, ""]);
    expect(out).not.toMatch(/minimum: -/);
    expect(out.split("\n").length).toBeGreaterThan(120);
    const file = path.join(directory, "wide.contract.yaml");
    fs.writeFileSync(file, out);
    expect(await cli.run("datasets", "contract", "set", "wide", "--file", file)).toMatchObject({ code: 0, err: "" });
    expect((await cli.run("datasets", "validate", "wide")).out).toMatch(
      /^wide@1: passed \(120 rows, \d+ rules, no violation/m,
    );
  });
});
