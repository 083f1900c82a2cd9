import { type Block, blocksOf, commandsOf, type PrintedCommand, pages, scriptOf, strayCommands } from "./markdown";
import { notRun, placeholders, settings } from "./pages";
import { World } from "./world";

describe("the commands of README and docs", () => {
  const world = new World();
  const used = new Set<object>();
  beforeAll(() => world.start(), 300_000);
  afterAll(() => world.remove());

  it("all stand in blocks that are run", () => {
    expect(pages().flatMap(strayCommands)).toEqual([]);
  });

  const blocks = pages()
    .flatMap((file) => blocksOf(file))
    .filter(({ language }) => ["sh", "console", "python"].includes(language));
  // Python loads what commands have trained. A token closes the API to everybody without one.
  const rank = ({ language, lines }: Block): number =>
    lines.some((line) => line.includes("tokens create")) ? 2 : language === "python" ? 1 : 0;
  const ordered = [...blocks].sort((a, b) => rank(a) - rank(b));

  it.each(ordered.map((block) => [`${block.file}:${block.line}`, block] as const))(
    "%s",
    async (_place, block) => {
      const setting = settings.find(
        ({ file, command = "" }) => file === block.file && block.lines.some((line) => line.includes(command)),
      );
      if (setting) used.add(setting);
      const commands = commandsOf(block).filter((command) => !isExcepted(block, command));
      const { team, before = [], exchange = [] } = setting ?? {};
      const exchanges = [...exchange, ...placeholders(world.known)];
      const scripts = commands.map((command) =>
        exchanges.reduce((script, [pattern, by]) => script.replace(pattern, by), scriptOf(block, command)),
      );
      const results = await world.run([...before, ...scripts], team ? { RINGMASTER_TEAM: team } : {});
      const found = results.slice(before.length).map(({ code, output }, i) => {
        const { line, text, output: printed } = commands[i]!;
        if (printed.length > 0) return describeOutput(`${block.file}:${line}`, printed, output);
        return code === 0
          ? undefined
          : `${block.file}:${line}: \`${text}\`\nran as \`${scripts[i]}\` and ended with ${code}:\n${output}`;
      });
      expect(found.filter((each) => each !== undefined).join("\n")).toBe("");
    },
    300_000,
  );

  it("stop the stack by the last one", async () => {
    const [down] = await world.run(["npx ringmaster down"]);
    expect(down).toMatchObject({ code: 0, output: expect.stringContaining("stopped") });
  });

  it("need each exception and each setting", () => {
    expect([...notRun, ...settings].filter((each) => !used.has(each))).toEqual([]);
  });

  function isExcepted({ file }: Block, { text }: PrintedCommand): boolean {
    const exception = notRun.find((each) => each.file === file && text.startsWith(each.command));
    if (exception) used.add(exception);
    return exception !== undefined;
  }
});

/** Returns the lines of the documented output that are missing in the actual output, in order; numbers and ids may differ. */
function describeOutput(place: string, printed: readonly string[], output: string): string | undefined {
  const actual = output.split("\n").map(masked);
  let from = 0;
  for (const line of printed) {
    if (line.trim() === "") continue;
    const pattern = new RegExp(masked(line).split("…").map(escaped).join(".*"));
    const at = actual.findIndex((each, index) => index >= from && pattern.test(each));
    if (at === -1) return `${place}: the output has no line like\n${line}\nit is:\n${output}`;
    from = at + 1;
  }
  return undefined;
}

function masked(line: string): string {
  return line
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{6,}\b…?/g, "#")
    .replaceAll(/-?\d+(\.\d+)?/g, "0")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
