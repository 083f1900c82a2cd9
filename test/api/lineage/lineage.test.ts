import type { Platform } from "../../../adapters/platform";
import { lineageOfContent, lineageOfDataset } from "../../../api/lineage/of-dataset";
import { lineageOfVersion } from "../../../api/lineage/of-version";
import type { LineageGraph } from "../../../api/lineage/shapes";
import { drawLineage } from "../../../cli/commands/lineage";
import { versionDigestOf } from "../../../core/datasets/identity";
import { registerFrom } from "../../../core/lineage/register-from";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { preparedFeatures, registerTestDataset, resultOf, runOf } from "../../support/fixtures";

const at = "2026-01-01T00:00:00.000Z";
const file = (name: string, digit: string, rows: number) => ({ file: name, sha256: digit.repeat(64), bytes: 10, rows });
const linksOf = ({ nodes, edges }: LineageGraph): readonly string[] => {
  const name = new Map(nodes.map((node) => [node.id, node.id.replace(/[0-9a-f]{64}/, (digest) => digest.slice(0, 4))]));
  return edges.map(({ from, to }) => `${name.get(from)} → ${name.get(to)}`).sort();
};

describe("lineage, over the stores", () => {
  const embedded = useEmbedded();
  let platform: Platform;
  let shard: string;

  beforeAll(async () => {
    ({ platform } = createTestPlatform(embedded));
    const draft = await registerTestDataset(platform);
    shard = draft.shards[0]!.sha256;
    const dependencies = { ...platform, repository: platform.datasets };
    // Pushed twice, from a file and from two: each is a source.
    await registerFrom(dependencies, draft, { sources: [file("all.csv", "a", 100)] });
    await registerFrom(dependencies, draft, { sources: [file("first.csv", "b", 60), file("rest.csv", "c", 40)] });
    const { digest } = (await platform.datasets.find("digits", 1))!.manifest;
    expect(versionDigestOf(draft)).toBe(digest);

    const dataset = { name: "digits", version: 1, digest };
    for (const runId of ["run-1", "run-2", "run-3"])
      await platform.runs.create(runOf(runId, { dataset, code: { commit: "c0ffee", dirty: true } }));
    const step = { inputHash: "i", startedAt: at, finishedAt: at };
    await platform.runs.recordStep("run-1", {
      ...step,
      step: "PrepareFeatures",
      output: { ...preparedFeatures.output, digest: "f".repeat(64) },
    });
    await platform.runs.recordStep("run-1", { ...step, step: "LaunchTraining", output: resultOf("run-1") });
    const made = { model: "digits", metrics: {}, dataset };
    await platform.registry.register(
      platform.team,
      { ...made, runId: "run-1", weightsSha256: "a".repeat(64) },
      { by: "run", at },
    );
    await platform.registry.register(platform.team, { ...made, source: "s3://elsewhere" }, { by: "ada", at });
  });

  it("of a dataset goes back to files and on to runs and models", async () => {
    const graph = await lineageOfDataset(platform, "digits", 1, { limit: 50 });
    expect(graph.root).toBe("dataset:digits@1");
    expect(linksOf(graph)).toEqual(
      [
        "dataset:digits@1 → model-version:digits@2",
        "dataset:digits@1 → run:run-1",
        "dataset:digits@1 → run:run-2",
        "dataset:digits@1 → run:run-3",
        "file:aaaa → dataset:digits@1",
        "file:bbbb → dataset:digits@1",
        "file:cccc → dataset:digits@1",
        "run:run-1 → model-version:digits@1",
        `shard:${shard.slice(0, 4)} → dataset:digits@1`,
      ].sort(),
    );
    const rest = graph.nodes.find(({ name }) => name.startsWith("c"))!;
    expect(rest.details).toEqual({ file: "rest.csv", bytes: 10, firstRow: 60, lastRow: 99 });
  });

  it("gives runs by pages, all of them once", async () => {
    const runs: string[] = [];
    let nextToken: string | undefined;
    do {
      const page: LineageGraph = await lineageOfDataset(platform, "digits", 1, {
        limit: 2,
        ...(nextToken ? { nextToken } : {}),
      });
      runs.push(
        ...page.edges.filter(({ from, to }) => from === page.root && to.startsWith("run:")).map(({ to }) => to),
      );
      nextToken = page.nextToken;
    } while (nextToken);
    expect([...new Set(runs)].sort()).toEqual(["run:run-1", "run:run-2", "run:run-3"]);
  });

  it("of a model's version goes back to run, code, features, data, files and rows", async () => {
    const graph = await lineageOfVersion(platform, await platform.registry.version("digits", 1));
    expect(linksOf(graph)).toEqual(
      [
        "code:c0ffee → run:run-1",
        "dataset:digits@1 → features:ffff",
        "features:ffff → run:run-1",
        "file:aaaa → dataset:digits@1",
        "file:bbbb → dataset:digits@1",
        "file:cccc → dataset:digits@1",
        "run:run-1 → model-version:digits@1",
        `shard:${shard.slice(0, 4)} → dataset:digits@1`,
      ].sort(),
    );
    expect(drawLineage(graph).slice(0, 6)).toEqual([
      "model-version digits@1  none",
      "",
      "inputs",
      "└─ run run-1  queued",
      "   ├─ code c0ffee  with uncommitted changes",
      "   └─ features ffffffffffff",
    ]);
  });

  it("of a model's version goes on to the version and run with whose weights its run began", async () => {
    const dataset = {
      name: "digits",
      version: 1,
      digest: (await platform.datasets.find("digits", 1))!.manifest.digest,
    };
    const parts = { sha256: "e".repeat(64), bytes: 2 };
    const from = { model: "digits", version: 1, runId: "run-1", weightsSha256: "a".repeat(64), parts };
    await platform.runs.create(runOf("run-tuned", { dataset, fineTunedFrom: from }));
    await platform.registry.register(
      platform.team,
      { model: "tuned", metrics: {}, dataset, runId: "run-tuned", weightsSha256: "b".repeat(64) },
      { by: "run", at },
    );
    const links = linksOf(await lineageOfVersion(platform, await platform.registry.version("tuned", 1)));
    expect(links).toEqual(
      expect.arrayContaining([
        "code:c0ffee → run:run-1",
        "run:run-1 → model-version:digits@1",
        "model-version:digits@1 → run:run-tuned",
        "run:run-tuned → model-version:tuned@1",
      ]),
    );
  });

  it.each([
    ['{"tags": {"mlflow.source.name": "train.py"}}', ""],
    ['{"uri": "s3://lake/houses.csv"}', "  s3://lake/houses.csv"],
    ["houses.csv", "  houses.csv"],
    ["{not JSON", "  {not JSON"],
  ])("shows of data that MLflow logged its place, not its JSON: %s", (source, shown) => {
    const node = { id: "dataset:houses#1", kind: "dataset", name: "houses#1", details: { source } } as const;
    expect(drawLineage({ root: node.id, nodes: [node], edges: [] })[0]).toBe(`dataset houses#1${shown}`);
  });

  it("of a raw file, or of a shard, goes on to the models that saw it", async () => {
    for (const content of ["c".repeat(64), shard]) {
      const graph = await lineageOfContent(platform, content, 50);
      expect(linksOf(graph)).toEqual(
        expect.arrayContaining(["run:run-1 → model-version:digits@1", "dataset:digits@1 → run:run-3"]),
      );
    }
    await expect(lineageOfContent(platform, "9".repeat(64), 50)).rejects.toMatchObject({ code: "CONTENT_NOT_FOUND" });
  });

  it("finds a logged run by its data, too", async () => {
    const { records, experiments } = platform;
    const { experimentId } = await experiments.ensure("elsewhere", "ada", at);
    const record = (await records.find("run-1"))!;
    const { job: _, weightsSha256: __, ...rest } = record;
    const input = { name: "houses # 1", digest: "4f2a", sourceType: "local", source: "houses.csv", tags: {} };
    await records.create({ ...rest, runId: "logged-1", experimentId, source: "logged", datasets: [], params: {} });
    await records.change("logged-1", (known) => ({ ...known, datasets: [input] }));
    expect((await platform.lineage.runsOf(input, { limit: 10 })).items).toEqual(["logged-1"]);
  });

  it("refuses files whose rows are not the version's", async () => {
    const draft = await registerTestDataset(platform, "other");
    const attempt = registerFrom({ ...platform, repository: platform.datasets }, draft, {
      sources: [file("some.csv", "d", 3)],
    });
    await expect(attempt).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("the 100 rows of the version"),
    });
  });
});
