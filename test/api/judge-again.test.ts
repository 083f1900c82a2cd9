import { callApp, useTestApp } from "../support/app";

describe("a version that is judged by a request that comes twice", () => {
  const { app } = useTestApp({ checkResponses: true });
  beforeAll(async () => {
    await call("/models/register", { name: "toy", source: "s3://elsewhere/1", metrics: {} });
    await call("/models/register", { name: "toy", source: "s3://elsewhere/2", metrics: {} });
  });

  async function call(path: string, body: object, key?: string) {
    const answer = await callApp(app, "POST", path, body, key === undefined ? {} : { "idempotency-key": key });
    return answer.body as { version: { approvals: unknown[]; gate?: { passed: boolean } } };
  }
  const judge = (version: number, key?: string) => call(`/models/toy/versions/${version}/judge`, {}, key);

  it("keeps the approvals that were given in the meantime, and so does another request that finds the same", async () => {
    expect((await judge(1, "first")).version).toMatchObject({ approvals: [], gate: { passed: true } });
    await call("/models/toy/versions/1/approvals", { decision: "approved" });
    expect((await judge(1, "first")).version.approvals).toHaveLength(1);
    expect((await judge(1, "second")).version.approvals).toHaveLength(1);
  });

  it("is another version's request under the same key", async () => {
    expect((await judge(2, "first")).version).toMatchObject({ version: 2, gate: { passed: true } });
  });
});
