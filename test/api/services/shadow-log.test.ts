import { logShadow, type ShadowObservation, summarizeShadow } from "../../../api/routes/serving";

/** Objects in memory. */
function memory() {
  const kept = new Map<string, string>();
  return {
    kept,
    putNew: async (key: string, body: Uint8Array | string) => {
      if (kept.has(key)) return false;
      kept.set(key, String(body));
      return true;
    },
    list: async (prefix: string) => [...kept.keys()].filter((key) => key.startsWith(prefix)).sort(),
    find: async (key: string) => new TextEncoder().encode(kept.get(key)),
    get: async (key: string) => new TextEncoder().encode(kept.get(key)),
  };
}

const at = (time: string) => ({ now: () => Date.parse(time) });
const said = (unit: string, served: ShadowObservation["served"], shadow: ShadowObservation["shadow"]) => ({
  unit,
  served,
  shadow,
});

describe("the log of shadows", () => {
  it("has a key that S3 takes for a name as long and as strange as names may be", async () => {
    const objects = memory();
    const clock = at("2026-01-01T00:00:00.000Z");
    // 250 UTF-16 units: 125 characters of twelve bytes each when encoded.
    const longest = "\u{1F600}".repeat(125);
    for (const model of [longest, `${longest.slice(2)}a`, "a b"]) {
      await logShadow({ objects, clock }, model, 1, [said(model, "cat", "cat")]);
      expect((await summarizeShadow(objects, model, 1)).observations).toBe(1);
    }
    const keys = [...objects.kept.keys()];
    expect(keys.every((key) => Buffer.byteLength(`teams/${"t".repeat(63)}/${key}`) <= 1024)).toBe(true);
    expect(keys[0]).toMatch(/^serving\/=[0-9a-f]{64}\/shadows\/1\//);
    expect(keys[2]).toMatch(/^serving\/a%20b\/shadows\/1\//);
  });

  it("keeps a report once, also when it is sent again after midnight", async () => {
    const objects = memory();
    const report = [said("a", "cat", "cat"), said("b", "cat", "dog")];
    expect(await logShadow({ objects, clock: at("2026-01-01T23:59:59.000Z") }, "pets", 4, report)).toEqual({
      stored: true,
    });
    expect(await logShadow({ objects, clock: at("2026-01-01T23:59:59.500Z") }, "pets", 4, report)).toEqual({
      stored: false,
    });
    await logShadow({ objects, clock: at("2026-01-02T00:00:00.000Z") }, "pets", 4, report);
    expect(await summarizeShadow(objects, "pets", 4)).toEqual({
      version: 4,
      observations: 2,
      agreement: 0.5,
      examples: [report[1]],
      truncated: false,
    });
  });

  it.each([
    ["probabilities by their greatest", [0.2, 0.8], [0.4, 0.6], { agreement: 1 }],
    ["probabilities that name another class", [0.2, 0.8], [0.6, 0.4], { agreement: 0 }],
    ["numbers by their distance", 3, 3.5, { meanAbsoluteDifference: 0.5 }],
    ["booleans", true, true, { agreement: 1 }],
  ] as const)("compares %s", async (_, served, shadow, expected) => {
    const objects = memory();
    await logShadow({ objects, clock: at("2026-01-01T00:00:00.000Z") }, "m", 2, [said("a", served, shadow)]);
    expect(await summarizeShadow(objects, "m", 2)).toMatchObject({ observations: 1, ...expected });
  });

  it("keeps models and versions apart, whatever they are called", async () => {
    const objects = memory();
    await logShadow({ objects, clock: at("2026-01-01T00:00:00.000Z") }, "a model: ÄÖ", 2, [said("a", 1, 1)]);
    expect([...objects.kept.keys()][0]).toMatch(
      /^serving\/a%20model%3A%20%C3%84%C3%96\/shadows\/2\/2026-01-01\/[0-9a-f]{64}\.json$/,
    );
    for (const [model, version] of [
      ["a model: ÄÖ", 3],
      ["a", 2],
    ] as const) {
      expect(await summarizeShadow(objects, model, version)).toMatchObject({ observations: 0, examples: [] });
    }
  });
});
