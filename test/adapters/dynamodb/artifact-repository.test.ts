import type { Artifact } from "../../../core/tracking/artifacts";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";

let embedded: Embedded;
beforeAll(async () => {
  embedded = await startEmbedded();
});
afterAll(() => embedded.stop());

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
  it("are listed a directory at a time, however many lie below", async () => {
    const many = Array.from({ length: 450 }, (_, i) => file(`deep/${String(i % 3)}/file-${i}`));
    // Neighbours of a slash in the order of bytes: "-" and "." before it, "0" after it.
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

  it("are the last put under a name, and put twice is put once", async () => {
    await artifacts().put(run("twice"), [file("a", 1), file("a", 2)]);
    await artifacts().put(run("twice"), [file("a", 2)]);
    expect(await artifacts().listAll(run("twice"), "")).toEqual([file("a", 2)]);
    expect(await artifacts().find(run("twice"), "a")).toEqual(file("a", 2));
  });

  it("are taken away by file or by directory, and are no other run's, model's or team's", async () => {
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
