import * as fs from "node:fs";
import * as path from "node:path";
import { startTestApp } from "../support/app";
import { type CliResult, cliOverApp } from "../support/cli-over-app";
import type { Embedded } from "../support/embedded";
import { temporaryFolder } from "../support/temporary-folder";

/** Files as people have them, pushed by the command line as they are. */
describe("datasets push of files as they are", () => {
  let embedded: Embedded;
  let cli: Awaited<ReturnType<typeof cliOverApp>>;
  const directory = temporaryFolder("pushed-files");
  beforeAll(async () => {
    const started = await startTestApp({ checkResponses: true });
    embedded = started.embedded;
    cli = await cliOverApp(started.app);
  });
  afterAll(async () => {
    await cli.stop();
    await embedded.stop();
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

  it("ignores the row numbers of pandas, whose column has no name, and omits a last column without a name", async () => {
    const { code, schema } = await push(
      "pandas.csv",
      [",a,y,", ...range(60, (i) => `${i},${i % 7},${i % 2},`)],
      "--label",
      "y",
    );
    expect(code).toBe(0);
    expect(schema).toContain("{ name: column_1, type: int, role: ignore, nullable: true }   # the numbers of rows");
    expect(schema.match(/name: \S+/g)).toEqual(["name: column_1,", "name: a,", 'name: "y",']);
  });
});
