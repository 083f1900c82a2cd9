import { historyPage } from "../../../core/registry/history-pages";
import { emptyModel } from "../../../core/registry/lifecycle";
import type { FormerName, HistoryEntry, Model } from "../../../core/registry/model";

const at = "2026-01-01T00:00:00.000Z";

/** A model's rows, each name's from its first revision on. */
function world(last: Readonly<Record<string, number>>) {
  const requested: string[] = [];
  return {
    requested,
    async historyBetween(name: string, from: number, until: number): Promise<readonly HistoryEntry[]> {
      requested.push(`${name} ${from}-${until}`);
      const all = Array.from(
        { length: last[name]! },
        (_, i) => ({ revision: i + 1, action: "tagged", by: "ada", at }) as const,
      );
      return all.filter(({ revision }) => revision >= from && revision <= until);
    },
  };
}
const modelOf = (name: string, revision: number, nameSince?: number, formerNames?: readonly FormerName[]): Model => ({
  ...emptyModel(name, "default", { by: "ada", at }),
  revision,
  ...(nameSince && { nameSince }),
  ...(formerNames && { formerNames }),
});
const lines = (items: readonly HistoryEntry[]) =>
  items.map(({ model, revision }) => `${model ?? ""}${revision}`).join(" ");

async function pagesOf(rows: ReturnType<typeof world>, model: Model, limit: number): Promise<readonly string[]> {
  const pages: string[] = [];
  let nextToken: string | undefined;
  do {
    const page = await historyPage(rows, model, { limit, nextToken });
    pages.push(lines(page.items));
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

  it("goes on under the names that the model had", async () => {
    // `a` became `b` at its 3rd revision; `b` was another model's before, and became `c` at its 7th; `c` is new.
    const former = [
      { name: "a", from: 1, until: 3 },
      { name: "b", from: 5, until: 7 },
    ];
    const model = modelOf("c", 2, 1, former);
    const rows = world({ a: 4, b: 8, c: 2 });
    expect(await pagesOf(rows, model, 4)).toEqual(["2 1 b7 b6", "b5 a3 a2 a1"]);
    expect(rows.requested).toEqual(["c 1-2", "b 6-7", "b 5-5", "a 1-3"]);
    expect(await pagesOf(rows, model, 5)).toEqual(["2 1 b7 b6 b5", "a3 a2 a1"]);
  });

  it.each([
    ["nonsense", "!"],
    ["another model's", Buffer.from('["x",1]').toString("base64url")],
    ["a revision that is not there", Buffer.from('["m",99]').toString("base64url")],
    ["a number", Buffer.from("7").toString("base64url")],
  ])("refuses %s as a token", async (_name, nextToken) => {
    await expect(historyPage(world({ m: 5 }), modelOf("m", 5), { limit: 2, nextToken })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});
