import { sha256 } from "../../../core/digest";
import { CorruptObjectError, ObjectNotFoundError } from "../../../core/object-errors";
import { objectKeys } from "../../../core/platform/object-keys";
import type { ObjectStore } from "../../../core/ports";

/** What every `ObjectStore` must do. `open` gives an empty store. */
export function objectStoreContract(name: string, open: () => Promise<ObjectStore>): void {
  describe(`ObjectStore contract: ${name}`, () => {
    let store: ObjectStore;
    const text = async (key: string) => Buffer.from(await store.get(key)).toString();

    beforeAll(async () => {
      store = await open();
    });

    it("gives back what was put, and the last of two puts", async () => {
      await store.put("a/text", "first");
      await store.put("a/text", "sécond", "text/plain");
      expect(await text("a/text")).toBe("sécond");
      expect(await store.size("a/text")).toBe(7);
    });

    it("keeps an empty object apart from none", async () => {
      await store.put("a/empty", new Uint8Array(0));
      expect(await store.size("a/empty")).toBe(0);
      expect(await store.find("a/empty")).toHaveLength(0);
      expect(await store.find("a/none")).toBeUndefined();
      expect(await store.size("a/none")).toBeUndefined();
    });

    it("rejects reads of what is not there with the key", async () => {
      await expect(store.get("a/none")).rejects.toThrow(ObjectNotFoundError);
      await expect(store.getRange("a/none", 0, 1)).rejects.toThrow("a/none");
      await expect(store.getContent(sha256("never stored"))).rejects.toThrow(ObjectNotFoundError);
    });

    it.each([
      { start: 0, length: 3, expected: "012" },
      { start: 7, length: 2, expected: "78" },
      { start: 8, length: 99, expected: "89" },
      { start: 10, length: 1, expected: "" },
      { start: 99, length: 1, expected: "" },
      { start: 4, length: 0, expected: "" },
    ])("reads the range [$start, +$length) as '$expected'", async ({ start, length, expected }) => {
      await store.put("a/digits", "0123456789");
      expect(Buffer.from(await store.getRange("a/digits", start, length)).toString()).toBe(expected);
    });

    it("creates exactly once, whoever races", async () => {
      const outcomes = await Promise.all([1, 2, 3, 4, 5].map((n) => store.putNew("a/once", `writer ${n}`)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await text("a/once")).toBe(`writer ${outcomes.indexOf(true) + 1}`);
      expect(await store.putNew("a/once", "late")).toBe(false);
      expect(await text("a/once")).toBe(`writer ${outcomes.indexOf(true) + 1}`);
    });

    it.each([0, 1, 5 * 1024 * 1024 + 1])("streams %i bytes of unknown length", async (bytes) => {
      const body = Buffer.alloc(bytes, "abcdefg");
      const chunks = (async function* () {
        for (let at = 0; at < bytes; at += 1_000_003) yield body.subarray(at, at + 1_000_003);
      })();
      expect(await store.putStream("a/stream", chunks)).toBe(bytes);
      expect(sha256(await store.get("a/stream"))).toBe(sha256(body));
    });

    it("leaves nothing of a stream that fails", async () => {
      const broken = (async function* () {
        yield Buffer.from("half");
        throw new Error("the source broke");
      })();
      await expect(store.putStream("a/broken", broken)).rejects.toThrow("the source broke");
      expect(await store.find("a/broken")).toBeUndefined();
    });

    it.each([5, 100_000])("stores %i bytes by content, twice as once", async (bytes) => {
      const body = Buffer.alloc(bytes, "content");
      const reference = await store.putContent(body);
      expect(reference).toEqual({ sha256: sha256(body), bytes });
      expect(await store.putContent(body)).toEqual(reference);
      expect(Buffer.from(await store.getContent(reference.sha256)).equals(body)).toBe(true);
    });

    it("refuses content that its digest does not cover", async () => {
      const { sha256: digest } = await store.putContent("genuine");
      await store.put(objectKeys.content(digest), "tampered");
      await expect(store.getContent(digest)).rejects.toThrow(CorruptObjectError);
    });

    it("lists keys under a prefix in lexical order", async () => {
      for (const key of ["list/b", "list/a/2", "list/a/10", "lister", "list/ü"]) await store.put(key, "x");
      expect(await store.list("list/")).toEqual(["list/a/10", "list/a/2", "list/b", "list/ü"]);
      expect(await store.list("list/a/1")).toEqual(["list/a/10"]);
      expect(await store.list("none/")).toEqual([]);
    });

    it("deletes, and deletes what is not there", async () => {
      await store.put("a/gone", "x");
      await store.delete("a/gone");
      await store.delete("a/gone");
      expect(await store.find("a/gone")).toBeUndefined();
    });
  });
}
