import { historyPage } from "../../../api/routes/models";
import { emptyModel } from "../../../core/registry/lifecycle";
import type { HistoryEntry, Model } from "../../../core/registry/model";

const at = "2026-01-01T00:00:00.000Z";

/** A model's rows, each name's from its first revision on. */
function world(last: Readonly<Record<string, number>>) {
  return {
    async historyBetween(name: string, from: number, until: number): Promise<readonly HistoryEntry[]> {
      const all = Array.from(
        { length: last[name]! },
        (_, i) => ({ revision: i + 1, action: "tagged", by: "ada", at }) as const,
      );
      return all.filter(({ revision }) => revision >= from && revision <= until);
    },
  };
}
const modelOf = (name: string, revision: number): Model => ({
  ...emptyModel(name, "default", { by: "ada", at }),
  revision,
});

async function pagesOf(rows: ReturnType<typeof world>, model: Model, limit: number): Promise<readonly string[]> {
  const pages: string[] = [];
  let nextToken: string | undefined;
  do {
    const page = await historyPage(rows, model, { limit, nextToken });
    pages.push(page.items.map(({ revision }) => revision).join(" "));
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return pages;
}

describe("a model's history, by pages", () => {
  it.each([
    ["less than a page", 3, 5, ["3 2 1"]],
    ["a page exactly", 4, 4, ["4 3 2 1"]],
    ["more", 7, 3, ["7 6 5", "4 3 2", "1"]],
  ])("has %s, newest first", async (_name, revision, limit, expected) => {
    expect(await pagesOf(world({ m: revision }), modelOf("m", revision), limit)).toEqual(expected);
  });

  it("leaves out what came after the model was read, on the first page and on the next", async () => {
    expect(await pagesOf(world({ m: 9 }), modelOf("m", 5), 3)).toEqual(["5 4 3", "2 1"]);
  });

  it.each([
    ["nonsense", "!"],
    ["nothing", ""],
    ["zero", "0"],
    ["a negative number", "-1"],
    ["a fraction", "1.5"],
    ["another notation", "0x2"],
    ["a revision that does not exist", "99"],
  ])("refuses %s as a token", async (_name, nextToken) => {
    await expect(historyPage(world({ m: 5 }), modelOf("m", 5), { limit: 2, nextToken })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});
