import { runCampaign, totalOf } from "../../bench/corruption/campaign";

const options = { from: 0, stride: 1, seed: 7 };

describe("the corruption campaign", () => {
  it("finds no damage that is silent or unnamed", async () => {
    const { counts, findings } = await runCampaign({ ...options, cases: 250, unverified: false });
    expect(findings).toEqual([]);
    expect(totalOf(counts)).toBeGreaterThan(200);
    expect(totalOf(counts, "detected")).toBeGreaterThan(100);
  });

  it("sees silence where a reader verifies nothing", async () => {
    const { counts, findings } = await runCampaign({ ...options, cases: 40, unverified: true });
    expect(totalOf(counts, "silent")).toBeGreaterThan(10);
    expect(findings[0]).toMatchObject({ outcome: "silent", subject: "unverified bodies (self-test)" });
  });
});
