import { sha256 } from "../../../core/digest";
import { CorruptObjectError, ObjectNotFoundError } from "../../../core/object-documents";
import { objectKeys } from "../../../core/object-keys";
import type { ObjectStore } from "../../../core/ports";

export function objectStoreContract(name: string, open: () => Promise<ObjectStore>): void {
  describe(`ObjectStore contract: ${name}`, () => {
    let store: ObjectStore;
    const text = async (key: string) => Buffer.from(await store.get(key)).toString();

    beforeAll(async () => {
      store = await open();
    });

    it("returns the object that was put last", async () => {
      await store.put("a/text", "first");
      await store.put("a/text", "sécond", "text/plain");
      expect(await text("a/text")).toBe("sécond");
      expect(await store.size("a/text")).toBe(7);
    });

    it("distinguishes an empty object from a missing one", async () => {
      await store.put("a/empty", new Uint8Array(0));
      expect(await store.size("a/empty")).toBe(0);
      expect(await store.find("a/empty")).toHaveLength(0);
      expect(await store.find("a/none")).toBeUndefined();
      expect(await store.size("a/none")).toBeUndefined();
    });

    it("rejects reads of a missing object with its key", async () => {
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

    it("creates exactly once under concurrency", async () => {
      const outcomes = await Promise.all([1, 2, 3, 4, 5].map((n) => store.putNew("a/once", `writer ${n}`)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await text("a/once")).toBe(`writer ${outcomes.indexOf(true) + 1}`);
      expect(await store.putNew("a/once", "late")).toBe(false);
      expect(await text("a/once")).toBe(`writer ${outcomes.indexOf(true) + 1}`);
    });

    const mebibyte = 1024 * 1024;
    /** Yields bytes that do not repeat within a part, in chunks that do not align with parts. */
    const bodyOf = (bytes: number, first = 0) => {
      const words = new Uint32Array(bytes / 4);
      for (let i = 0; i < words.length; i += 1) words[i] = i + first;
      return Buffer.from(words.buffer);
    };
    const chunksOf = async function* (body: Buffer) {
      for (let at = 0; at < body.length; at += 1_000_003) yield body.subarray(at, at + 1_000_003);
    };

    it.each([
      { bytes: 0, readings: 1 },
      { bytes: 4, readings: 1 },
      { bytes: 8 * mebibyte, readings: 1 }, // One part: sent from the first reading.
      { bytes: 8 * mebibyte + 4, readings: 2 },
    ])("streams $bytes bytes by content, and sends them once", async ({ bytes, readings }) => {
      const body = bodyOf(bytes, bytes);
      let opened = 0;
      const open = () => {
        opened += 1;
        return chunksOf(body);
      };
      const reference = await store.putContentStream(open);
      expect(reference).toEqual({ sha256: sha256(body), bytes });
      expect(opened).toBeGreaterThanOrEqual(readings);
      opened = 0;
      expect(await store.putContentStream(open)).toEqual(reference);
      expect(opened).toBe(1);
      expect(await store.putContent(body)).toEqual(reference);
      expect(Buffer.from(await store.getContent(reference.sha256)).equals(body)).toBe(true);
    });

    it("streams several contents concurrently, of more parts than are in memory at once", async () => {
      const bodies = [1, 9, 17].map((size, i) => bodyOf(size * mebibyte, (i + 1) * 1_000_003));
      const references = await Promise.all(bodies.map((body) => store.putContentStream(() => chunksOf(body))));
      expect(references.map((reference) => reference.sha256)).toEqual(bodies.map(sha256));
    });

    it.each([
      { change: "other bytes", second: (body: Buffer) => Buffer.concat([body.subarray(0, -1), Buffer.of(99)]) },
      { change: "more bytes", second: (body: Buffer) => Buffer.concat([body, body]) },
    ])("keeps nothing of a stream that gives $change when it is read again", async ({ second }) => {
      const body = bodyOf(9 * mebibyte, 77);
      let opened = 0;
      const changing = () => chunksOf(opened++ === 0 ? body : second(body));
      await expect(store.putContentStream(changing)).rejects.toThrow();
      expect(await store.size(objectKeys.content(sha256(body)))).toBeUndefined();
    });

    it.each([1, 9])("stores nothing of a failed stream of %i MiB, and continues", async (size) => {
      const body = bodyOf(size * mebibyte, 123 + size);
      const broken = async function* () {
        yield* chunksOf(body);
        throw new Error("the source broke");
      };
      await expect(store.putContentStream(broken)).rejects.toThrow("the source broke");
      let opened = 0;
      const breaking = () => (opened++ === 0 ? chunksOf(body) : broken());
      if (size > 8) await expect(store.putContentStream(breaking)).rejects.toThrow("the source broke");
      expect(await store.size(objectKeys.content(sha256(body)))).toBeUndefined();
      expect(await store.putContentStream(() => chunksOf(body))).toEqual({ sha256: sha256(body), bytes: body.length });
    });

    it.each([5, 100_000])(
      "copies %i bytes from another key to their name, and never replaces content",
      async (bytes) => {
        const body = Buffer.alloc(bytes, "copied");
        const content = { sha256: sha256(body), bytes };
        expect(await store.copyContent(content, "files/copy")).toBe(false);
        await store.put("files/copy", Buffer.alloc(bytes, "other"));
        expect(await store.copyContent(content, "files/copy")).toBe(false);
        expect(await store.size(objectKeys.content(content.sha256))).toBeUndefined();
        await store.put("files/copy", body);
        expect(await store.copyContent(content, "files/copy")).toBe(true);
        expect(Buffer.from(await store.getContent(content.sha256)).equals(body)).toBe(true);
        await store.put("files/copy", Buffer.alloc(bytes, "other"));
        expect(await store.copyContent(content, "files/copy")).toBe(true);
        expect(Buffer.from(await store.getContent(content.sha256)).equals(body)).toBe(true);
      },
    );

    it("refuses content with another digest", async () => {
      const { sha256: digest } = await store.putContent("genuine");
      await store.put(objectKeys.content(digest), "tampered");
      await expect(store.getContent(digest)).rejects.toThrow(CorruptObjectError);
    });

    it.each([
      { what: "a body", bytes: 5, store: (body: Buffer) => store.putContent(body) },
      { what: "a large body", bytes: 100_000, store: (body: Buffer) => store.putContent(body) },
      { what: "a stream", bytes: 100_000, store: (body: Buffer) => store.putContentStream(() => chunksOf(body)) },
      { what: "parts", bytes: 9 * mebibyte, store: (body: Buffer) => store.putContentStream(() => chunksOf(body)) },
    ])("replaces other bytes under a content's name when $what of $bytes bytes is stored", async (given) => {
      const body = Buffer.alloc(given.bytes, `${given.what} that is genuine`);
      const reference = { sha256: sha256(body), bytes: body.length };
      expect(await store.hasContent(reference)).toBe(false);
      await store.put(objectKeys.content(reference.sha256), Buffer.alloc(given.bytes, "tampered"));
      expect(await store.hasContent(reference)).toBe(false);
      expect(await given.store(body)).toEqual(reference);
      expect(Buffer.from(await store.getContent(reference.sha256)).equals(body)).toBe(true);
      expect(await store.hasContent(reference)).toBe(true);
    });

    it("lists keys under a prefix in lexical order", async () => {
      for (const key of ["list/b", "list/a/2", "list/a/10", "lister", "list/ü"]) await store.put(key, "x");
      expect(await store.list("list/")).toEqual(["list/a/10", "list/a/2", "list/b", "list/ü"]);
      expect(await store.list("list/a/1")).toEqual(["list/a/10"]);
      expect(await store.list("none/")).toEqual([]);
    });

    it("deletes existing and missing objects", async () => {
      await store.put("a/gone", "x");
      await store.delete("a/gone");
      await store.delete("a/gone");
      expect(await store.find("a/gone")).toBeUndefined();
    });
  });
}
