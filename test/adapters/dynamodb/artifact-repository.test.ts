import type { Artifact } from "../../../core/tracking/artifacts";
import { createTestPlatform, useEmbedded } from "../../support/embedded";

const embedded = useEmbedded();

const artifacts = (team = "default") => createTestPlatform(embedded).platform.forTeam(team).artifacts;
const run = (runId: string) => ({ kind: "run", runId }) as const;
const file = (path: string, bytes = 1): Artifact => ({
  path,
  bytes,
  sha256: String(bytes).padStart(64, "0"),
  updatedAt: "2026-01-01T00:00:00.000Z",
});
const names = (entries: readonly { path: string; isDirectory: boolean }[]) =>
  entries.map(({ path, isDirectory }) => (isDirectory ? `${path}/` : path));

describe("a run's artifacts", () => {
  it("are listed one directory at a time, whatever its size", async () => {
    const many = Array.from({ length: 450 }, (_, i) => file(`deep/${String(i % 3)}/file-${i}`));
    // Neighbours of a slash in byte order: "-" and "." sort before it, "0" after it.
    const near = ["a", "deep-1", "deep.txt", "deep0", "deep/x", "z/é/ü"].map((path) => file(path));
    await artifacts().put(run("many"), [...many, ...near]);
    expect(names(await artifacts().list(run("many"), ""))).toEqual(["a", "deep/", "deep-1", "deep.txt", "deep0", "z/"]);
    expect(names(await artifacts().list(run("many"), "deep"))).toEqual(["deep/0/", "deep/1/", "deep/2/", "deep/x"]);
    expect(await artifacts().list(run("many"), "deep/1")).toHaveLength(150);
    expect(names(await artifacts().list(run("many"), "z/é"))).toEqual(["z/é/ü"]);
    expect(await artifacts().list(run("many"), "dee")).toEqual([]);
    expect(await artifacts().listAll(run("many"), "")).toHaveLength(456);
    expect(await artifacts().listAll(run("many"), "deep")).toHaveLength(451);
  });

  it("are the last put under a name, and puts are idempotent", async () => {
    await artifacts().put(run("twice"), [file("a", 1), file("a", 2)]);
    await artifacts().put(run("twice"), [file("a", 2)]);
    expect(await artifacts().listAll(run("twice"), "")).toEqual([file("a", 2)]);
    expect(await artifacts().find(run("twice"), "a")).toEqual(file("a", 2));
  });

  it("are removed by file or by directory, without those of other runs, models or teams", async () => {
    const model = { kind: "logged-model", modelId: "one" } as const;
    for (const owner of [run("one"), run("two"), model])
      await artifacts().put(owner, [file("a"), file("d/b"), file("d/c/e")]);
    await artifacts().remove(run("one"), "d");
    expect(await artifacts().listAll(run("one"), "")).toEqual([file("a")]);
    await artifacts().remove(run("one"), "a");
    await artifacts().remove(run("one"), "a");
    expect(await artifacts().listAll(run("one"), "")).toEqual([]);
    expect(await artifacts().listAll(run("two"), "")).toHaveLength(3);
    expect(await artifacts().listAll(model, "")).toHaveLength(3);
    expect(await artifacts("blue").listAll(run("two"), "")).toEqual([]);
  });
});

describe("the team's tree", () => {
  const team = { kind: "team" } as const;
  const model = { kind: "logged-model", modelId: "m-1" } as const;
  const tree = async (path: string) => names(await artifacts("green").list(team, path));

  beforeAll(async () => {
    const many = Array.from({ length: 230 }, (_, i) => `run-${String(i).padStart(3, "0")}`);
    for (const runId of many)
      await artifacts("green").put(run(runId), [file("a"), file("d/b")], `1/${runId}/artifacts`);
    await artifacts("green").put(run("far"), [file("a")], "12/far/artifacts");
    await artifacts("green").put(model, [file("MLmodel")], "1/models/m-1/artifacts");
    await artifacts("green").put(team, [file("1/notes"), file("1.txt"), file("dir/b")]);
  });

  it("contains the files of runs and models, whatever their number", async () => {
    expect(await tree("")).toEqual(["1/", "1.txt", "12/", "dir/"]);
    expect(await tree("1")).toHaveLength(232);
    expect((await tree("1")).slice(0, 3)).toEqual(["1/models/", "1/notes", "1/run-000/"]);
    expect(await tree("1/run-229")).toEqual(["1/run-229/artifacts/"]);
    expect(await tree("1/models")).toEqual(["1/models/m-1/"]);
    expect(await tree("12/far/artifacts")).toEqual([]);
    expect(names(await createTestPlatform(embedded).platform.forTeam("blue").artifacts.list(team, ""))).toEqual([]);
  });

  it("contains only the team's files", async () => {
    const own = await artifacts("green").listAll(team, "");
    expect(own.map(({ path }) => path)).toEqual(["1.txt", "1/notes", "dir/b"]);
  });

  it("removes a folder with its content, and nothing next to it", async () => {
    for (const runId of ["one", "two"]) await artifacts("red").put(run(runId), [file("a")], `1/${runId}/artifacts`);
    await artifacts("red").put(run("far"), [file("a")], "12/far/artifacts");
    await artifacts("red").put(model, [file("MLmodel")], "1/models/m-1/artifacts");
    await artifacts("red").put(team, [file("1/notes"), file("1.txt")]);
    await artifacts("red").remove(team, "1/one");
    expect(await artifacts("red").listAll(run("one"), "")).toEqual([]);
    expect(await artifacts("red").listAll(run("two"), "")).toHaveLength(1);
    expect(names(await artifacts("red").list(team, "1"))).toEqual(["1/models/", "1/notes", "1/two/"]);
    await artifacts("red").remove(team, "1");
    expect(await artifacts("red").listAll(model, "")).toEqual([]);
    expect(names(await artifacts("red").list(team, ""))).toEqual(["1.txt", "12/"]);
    expect(await artifacts("red").listAll(run("far"), "")).toHaveLength(1);
  });
});
