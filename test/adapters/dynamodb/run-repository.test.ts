import { jobSchema } from "../../../core/runs/job";
import type { RunQuery, RunRepository } from "../../../core/runs/run-repository";
import { runRepositoryContract } from "../../core/runs/run-repository-contract";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { jobInput, runOf } from "../../support/fixtures";

describe("runs in DynamoDB", () => {
  const embedded = useEmbedded();

  runRepositoryContract(() => createTestPlatform(embedded).platform.runs);

  describe("a list", () => {
    const ids = (at: number): string => `run-list-${String(at).padStart(2, "0")}`;
    let runs: RunRepository;
    let experimentId: string;

    async function pagesOf(query: Omit<RunQuery, "nextToken">): Promise<readonly (readonly string[])[]> {
      const pages: (readonly string[])[] = [];
      let nextToken: string | undefined;
      do {
        const page = await runs.list({ ...query, nextToken });
        pages.push(page.runs.map(({ runId }) => runId));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      return pages;
    }

    beforeAll(async () => {
      const platform = createTestPlatform(embedded).platform.forTeam("lists");
      runs = platform.runs;
      for (let at = 0; at < 12; at += 1) {
        const experiment = at % 3 === 0 ? "thirds" : "others";
        const createdAt = new Date(Date.UTC(2026, 0, 1, at)).toISOString();
        const job = jobSchema.parse(jobInput({ experiment }));
        await runs.create(runOf(ids(at), { team: "lists", job, createdAt }));
        if (at >= 2) await runs.enterPhase(ids(at), "LaunchTraining", createdAt);
      }
      for (const at of [2, 4, 6, 8, 10])
        await runs.close(ids(at), { status: "completed", at: "2026-01-02T00:00:00.000Z" });
      await runs.close(ids(11), { status: "failed", at: "2026-01-02T00:00:00.000Z" });
      experimentId = (await platform.experiments.findByName("thirds"))!.experimentId;
    });

    it.each([
      ["everything", {}, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
      ["what is complete", { status: "completed" }, [10, 8, 6, 4, 2]],
      ["what runs", { status: "running" }, [9, 7, 5, 3]],
      ["what is queued", { status: "queued" }, [1, 0]],
      ["what failed", { status: "failed" }, [11]],
      ["nothing", { status: "killed" }, []],
    ] as const)(
      "has %s, each run once, in full pages of which none but the only one is empty",
      async (_n, filter, expected) => {
        for (const limit of [1, 2, 5, 50]) {
          const pages = await pagesOf({ ...filter, limit });
          expect(pages.flat()).toEqual(expected.map(ids));
          expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
          expect(pages).toHaveLength(Math.max(1, Math.ceil(expected.length / limit)));
        }
      },
    );

    it("finds an experiment's runs after a rename, and combines filters", async () => {
      expect((await pagesOf({ experimentId, limit: 3 })).flat()).toEqual([9, 6, 3, 0].map(ids));
      expect((await pagesOf({ experimentId, status: "completed", limit: 3 })).flat()).toEqual([ids(6)]);
    });

    it("refuses a token that is not from a page", async () => {
      await expect(runs.list({ limit: 2, nextToken: "e30" })).rejects.toThrow("nextToken");
    });
  });
});
