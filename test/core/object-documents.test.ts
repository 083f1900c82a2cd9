import * as z from "zod";
import { createJson } from "../../core/object-documents";
import { base64 } from "../../core/shapes";
import { createMemoryObjectStore } from "../adapters/s3/memory-object-store";

describe("base64 in a document", () => {
  it.each([
    ["", true],
    ["AA==", true],
    ["AAA=", true],
    ["A", false],
    ["A===", false],
    ["====", false],
    ["AA=A", false],
    ["A".repeat(20_000_000), true],
    [`${"A".repeat(20_000_000)}!!!!`, false],
  ])("is checked at every length", (text, isBase64) => {
    expect(base64.safeParse(text).success).toBe(isBase64);
  });
});

describe("a document that is written once", () => {
  const schema = z.strictObject({ runId: z.string(), weights: z.string(), at: z.string() });
  const kind = { name: "a note", schema, maxBytes: 200 };
  const document = { runId: "run-1", weights: "a", at: "10:00" };

  it("is stored, and stored again it is there already", async () => {
    const store = createMemoryObjectStore();
    expect(await createJson(store, "k", kind, document)).toEqual({ created: true, document });
    const reordered = { at: "10:00", weights: "a", runId: "run-1" };
    expect(await createJson(store, "k", kind, reordered, { indent: 2 })).toEqual({ created: false, document });
  });

  it("stands as it was stored first where only what does not count differs", async () => {
    const store = createMemoryObjectStore();
    await createJson(store, "k", kind, document);
    const essence = ({ weights }: typeof document) => weights;
    expect(await createJson(store, "k", kind, { ...document, at: "11:00" }, { essence })).toEqual({
      created: false,
      document,
    });
  });

  it.each([
    ["other content", JSON.stringify({ ...document, weights: "b" })],
    ["more content", JSON.stringify({ ...document, more: 1 })],
    ["no JSON", "EVIL"],
    ["no document", "null"],
    ["nothing", ""],
  ])("is never taken for what lies there with %s", async (_what, there) => {
    const store = createMemoryObjectStore();
    await store.put("k", there);
    const attempt = createJson(store, "k", kind, document);
    await expect(attempt).rejects.toMatchObject({ code: "OBJECT_DIFFERS" });
    await expect(attempt).rejects.toThrow(/k is written once, but it is there already with other content/);
    expect(new TextDecoder().decode(await store.get("k"))).toBe(there);
  });
});
