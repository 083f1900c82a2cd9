import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(__dirname, "../..");
const text = readFileSync(path.join(root, "trainer-container", "Dockerfile"), "utf8").replaceAll("\\\n", " ");
const lines = text.split("\n").filter((line) => !line.startsWith("#"));

const argument = (name: string): string =>
  (lines.find((line) => line.startsWith(`ARG ${name}=`))?.slice(`ARG ${name}=`.length) ?? "").replace(
    /\$\{(\w+)\}/g,
    (_, other: string) => argument(other),
  );

function stage(name: string): readonly string[] {
  const begin = lines.findIndex((line) => line.startsWith("FROM ") && line.endsWith(` AS ${name}`));
  const end = lines.findIndex((line, i) => i > begin && line.startsWith("FROM "));
  return lines.slice(begin, end);
}

describe("the trainer's image", () => {
  it("pins every base by its digest", () => {
    const stages = lines.flatMap((line) => / AS (\S+)$/.exec(line)?.[1] ?? []);
    const bases = lines.flatMap((line) => /^FROM (\S+)/.exec(line)?.[1] ?? []).filter((one) => !stages.includes(one));
    expect(bases).toHaveLength(3);
    for (const base of bases) {
      const name = /^\$\{(\w+)\}$/.exec(base)?.[1] ?? "";
      expect(argument(name)).toMatch(/^docker\.io\/\w+\/[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
    }
  });

  it("copies only what exists", () => {
    const sources = lines
      .filter((line) => /^COPY (?!--from)/.test(line))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(sources.filter((source) => !existsSync(path.join(root, source)))).toEqual([]);
  });

  it("has all files of the downloader, and no other, in the layer of wheels", () => {
    const copied = stage("wheels")
      .filter((line) => line.startsWith("COPY "))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    const needed = new Set(["trainer-container/native/wheel-download.js"]);
    for (const file of needed) {
      for (const [, request] of readFileSync(path.join(root, file), "utf8").matchAll(/require\("\.\/([^"]+)"\)/g))
        needed.add(`trainer-container/native/${request}.js`);
    }
    expect([...copied].sort()).toEqual([...needed].sort());
  });

  it("downloads each wheel in a layer with pip's cache and a time limit of its own", () => {
    const runs = stage("wheels").filter((line) => line.startsWith("RUN "));
    expect(runs).toHaveLength(2);
    for (const run of runs) {
      expect(run).toMatch(/--mount=type=cache,target=\/root\/\.cache\/pip/);
      expect(run).toMatch(/--timeout "\$DOWNLOAD_TIMEOUT"/);
    }
    expect(Number(argument("DOWNLOAD_TIMEOUT"))).toBeGreaterThan((572_611_111 * 8) / 30e6);
  });
});
