import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createApp } from "../../api/app";
import { decideApproval, promote, recordGate } from "../../core/registry/transitions";
import { createTestPlatform, type Embedded, startEmbedded } from "../support/embedded";

const by = { by: "test", at: "2026-01-01T00:00:00.000Z" };

describe("a table that never answers", () => {
  let embedded: Embedded;
  beforeAll(async () => {
    embedded = await startEmbedded();
    const { registry, team } = createTestPlatform(embedded).platform;
    await registry.register(team, { model: "toy", source: "s3://elsewhere/1", metrics: {}, submittedBy: "ada" }, by);
    await registry.apply("toy", [1], recordGate(1, { passed: true, checks: [], at: by.at }, by));
    await registry.apply("toy", [1], decideApproval(1, "approved", by));
    await registry.apply("toy", [1], promote(1, by));
  });
  afterAll(() => embedded.stop());

  const dynamodb = { send: () => new Promise(() => undefined) } as unknown as DynamoDBDocumentClient;
  const ask = (model: string, headers = {}) =>
    createApp(createTestPlatform({ ...embedded, dynamodb }).platform, { checkResponses: true }).request(
      `/api/v1/models/${model}/production`,
      { headers },
    );

  it("leaves who serves with the pointer's answer, which has the same tag", async () => {
    const up = await createApp(createTestPlatform(embedded).platform).request("/api/v1/models/toy/production");
    expect(up.headers.get("ringmaster-source")).toBe("registry");
    const [silent, unknown, same] = await Promise.all([
      ask("toy"),
      ask("unheard-of"),
      ask("toy", { "if-none-match": up.headers.get("etag") ?? "" }),
    ]);
    expect(silent.status).toBe(200);
    expect(silent.headers.get("ringmaster-source")).toBe("pointer");
    expect(silent.headers.get("etag")).toBe(up.headers.get("etag"));
    expect(await silent.json()).toEqual(await up.json());
    expect([unknown.status, ((await unknown.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      "REGISTRY_UNAVAILABLE",
    ]);
    expect(same.status).toBe(304);
  });
});
