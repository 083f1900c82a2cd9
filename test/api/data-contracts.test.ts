import { parseDataContract } from "../../core/datasets/contract/rules";
import { deliverEvent } from "../../core/notifications/deliver";
import { callApp, useTestApp } from "../support/app";
import { cliOverApp } from "../support/cli-over-app";

describe("the data contract of a dataset", () => {
  const { platform, calls, app } = useTestApp({ checkResponses: true });

  const send = (method: string, path: string, body?: unknown) =>
    callApp(app, method, `/datasets/${path}`, body, { "x-ringmaster-actor": "ada" });
  const contractOf = (minimum: number) => ({ rules: [{ rule: "rowCount", minimum }] });

  it("is set before the first push, and the same rules are the same revision", async () => {
    const first = await send("PUT", "shop/contract", { contract: contractOf(1), ifRevision: 0, reason: "start" });
    expect(first).toMatchObject({
      status: 200,
      body: { created: true, record: { revision: 1, by: "ada", reason: "start" } },
    });
    // The request is sent again because its answer was lost.
    const again = await send("PUT", "shop/contract", { contract: contractOf(1), ifRevision: 0 });
    expect(again.body).toMatchObject({ created: false, record: { revision: 1, reason: "start" } });
  });

  it("is not replaced by a caller that read an earlier revision, and keeps its history", async () => {
    const refused = await send("PUT", "shop/contract", { contract: contractOf(2), ifRevision: 0 });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: "DATA_CONTRACT_CHANGED" } } });
    const race = await Promise.all(
      [2, 3, 4].map((rows) => send("PUT", "shop/contract", { contract: contractOf(rows) })),
    );
    expect(race.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { items } = (await send("GET", "shop/contract/revisions?limit=3")).body as unknown as {
      items: { revision: number }[];
    };
    expect(items.map(({ revision }) => revision)).toEqual([4, 3, 2]);
    expect((await send("GET", "shop/contract?revision=1")).body).toMatchObject({
      contract: { contract: contractOf(1) },
    });
  });

  it.each([
    ["GET", "none/contract", undefined, 404, "DATA_CONTRACT_NOT_FOUND"],
    ["GET", "shop/contract?revision=9", undefined, 404, "DATA_CONTRACT_NOT_FOUND"],
    [
      "PUT",
      "shop/contract",
      { contract: { rules: [{ rule: "expression", expression: "1; drop" }] } },
      400,
      "INVALID_INPUT",
    ],
    [
      ...(["PUT", "shop/contract"] as const),
      {
        contract: {
          rules: [{ rule: "values", column: "x", values: Array.from({ length: 999 }, () => "x".repeat(400)) }],
        },
      },
      ...([400, "INVALID_INPUT"] as const),
    ],
  ])("%s %s is refused with its reason", async (method, path, body, status, code) => {
    expect(await send(method, path, body)).toMatchObject({ status, body: { error: { code } } });
  });

  it("is shown by the command line", async () => {
    const cli = await cliOverApp(app);
    try {
      const shown = await cli.run("datasets", "contract", "show", "shop", "--revision", "1");
      expect(parseDataContract(shown.out)).toEqual(parseDataContract("rules: [{rule: rowCount, minimum: 1}]"));
      expect(shown.out).toMatch(/^# Contract of shop, revision 1, set by ada at /);
      expect((await cli.run("datasets", "contract", "history", "shop")).out).toMatch(/1 +1 +2\S+ +ada +start/);
      expect(await cli.run("datasets", "contract", "show", "none")).toMatchObject({ code: 2 });
    } finally {
      await cli.stop();
    }
  });

  it("is reported when it blocked a push: one event, and one message without the values of rows", async () => {
    const { contract: _, ...team } = { ...platform.forTeam("default"), contract: undefined };
    await team.notifications.putSettings({
      ...{
        topic: true,
        events: ["data-contract.blocked"],
        keyGeneration: 1,
        updatedBy: "ada",
        updatedAt: "2026-01-01T00:00:00Z",
      },
    });
    const violation = {
      ...{ rule: "notNull", index: 0, severity: "block", columns: ["price"], requirement: "must not be missing" },
      ...{ status: "violated", rows: 2, samples: [{ row: 7, values: { price: "secret" } }] },
    };
    const at = "2026-01-01T10:00:00+01:00";
    const body = { revision: 1, digest: "a".repeat(64), at, rows: 100, file: "march.csv", violations: [violation] };
    const answers = [
      await send("POST", "shop/contract/blocked", body),
      await send("POST", "shop/contract/blocked", body),
    ];
    expect(answers[0]).toEqual(answers[1]);
    const events = calls.notable.flatMap((event) => (event.type === "data-contract.blocked" ? [event] : []));
    expect(events).toHaveLength(2);
    expect(events[0]).toMatchObject({
      ...{ team: "default", dataset: "shop", source: "push", file: "march.csv", blocking: 1, revision: 1 },
      ...{ at: "2026-01-01T09:00:00.000Z", violations: ["price must not be missing: 2 rows (2 %)"] },
    });
    for (const event of events) await deliverEvent(team, event);
    expect(calls.sent.map(({ message }) => message.id)).toEqual([events[0]!.id]);
    expect(calls.sent[0]!.message.body).not.toContain("secret");
    expect(await send("POST", "shop/contract/blocked", { ...body, revision: 99 })).toMatchObject({ status: 404 });
    expect(await send("POST", "shop/contract/blocked", { ...body, at: "today" })).toMatchObject({ status: 400 });
  });
});
