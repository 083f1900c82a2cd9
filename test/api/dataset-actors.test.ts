import { draftOf } from "../core/datasets/drafts";
import { useTestApp } from "../support/app";
import { cliOverApp } from "../support/cli-over-app";

describe("who registered and deprecated a dataset version", () => {
  const { platform, app } = useTestApp({ checkResponses: true });

  it("is in the version's row, and in what the command line shows", async () => {
    const at = "2026-01-01T00:00:00.000Z";
    // A row may name nobody.
    await platform.datasets.register(draftOf("toy", "old"), { at });
    await platform.datasets.register(draftOf("toy", "new"), { at, by: "ada" });
    const headers = { "content-type": "application/json", "x-ringmaster-actor": "grace" };
    const body = JSON.stringify({ reason: "labels swapped" });
    const deprecated = await app.request("/api/v1/datasets/toy/versions/2/deprecate", {
      method: "POST",
      headers,
      body,
    });
    expect(await deprecated.json()).toMatchObject({
      version: { createdBy: "ada", deprecation: { by: "grace", reason: "labels swapped" } },
    });
    expect(await platform.datasets.find("toy", 2)).toMatchObject({
      createdBy: "ada",
      deprecation: { by: "grace" },
    });
    const cli = await cliOverApp(app);
    try {
      const { out } = await cli.run("datasets", "show", "toy@2");
      expect(out).toMatch(/2 .* ada +deprecated by grace at 2\S+: labels swapped/);
      expect(out).toMatch(/1 .* – +active/);
      expect((await cli.run("datasets", "list")).out).toMatch(/toy .* ada/);
      expect((await cli.run("lineage", "dataset", "toy@2")).out).toContain("registered by ada, deprecated by grace");
    } finally {
      await cli.stop();
    }
  });
});
