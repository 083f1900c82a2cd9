import { deltaText, metricText } from "../../../core/quantities";

describe("a metric's value for people", () => {
  it.each([
    ["system/worker-0/rss", 674_140_000, "674 MB"],
    ["system/worker-1/gpu-memory", 2_100_000_000, "2.1 GB"],
    ["data/read-bytes", 512, "512 B"],
    ["system/worker-0/rss", "NaN", "NaN"],
    ["train/loss", 674_140_000, "674140000"],
    ["kilobytes", 3, "3"],
  ] as const)("%s of %j is %s", (metric, value, text) => {
    expect(metricText(metric, value)).toBe(text);
  });

  it("differs from a baseline in the same unit", () => {
    expect(deltaText("system/worker-0/rss", -1_500_000, -0.034)).toBe("−1.5 MB (−3.4 %)");
    expect(deltaText("train/loss", 0.012, undefined)).toBe("+0.012");
    expect(deltaText("train/loss", 0, 0)).toBe("0 (0 %)");
  });
});
