import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { sha256 } from "../../../core/digest";
import { CorruptObjectError } from "../../../core/object-documents";
import { objectKeys } from "../../../core/object-keys";
import { createShardCache } from "../../../trainer-container/data/shard-cache";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";

describe("createShardCache", () => {
  let directory: string;
  beforeEach(() => {
    directory = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "cache-")), "shards");
  });
  afterEach(() => fs.rmSync(path.dirname(directory), { recursive: true, force: true }));

  async function open(limitBytes = 1e9) {
    const store = createMemoryObjectStore();
    let fetches = 0;
    const { getRange } = store;
    store.getRange = async (...range) => {
      fetches += 1;
      return getRange(...range);
    };
    const put = (text: string) => store.putContent(text);
    const cache = createShardCache({ store, directory, limitBytes });
    const load = async (reference: { sha256: string; bytes: number }) =>
      Buffer.from(await cache.load(reference)).toString();
    return { store, put, load, fetches: () => fetches };
  }

  it("fetches once, then reads from the disk", async () => {
    const { put, load, fetches } = await open();
    const reference = await put("rows");
    expect(await load(reference)).toBe("rows");
    expect(await load(reference)).toBe("rows");
    expect(fetches()).toBe(1);
    expect(fs.readdirSync(directory)).toEqual([reference.sha256]);
  });

  it("fetches large content in ranges, side by side", async () => {
    const { store, load, fetches } = await open();
    const body = Buffer.alloc(20 * 2 ** 20, "0123456");
    expect(sha256(await load(await store.putContent(body)))).toBe(sha256(body));
    expect(fetches()).toBe(3);
  });

  it.each(["torn", ""])("fetches again what lies damaged on the disk (%p)", async (damage) => {
    const { put, load, fetches } = await open();
    const reference = await put("genuine");
    await load(reference);
    fs.writeFileSync(path.join(directory, reference.sha256), damage);
    expect(await load(reference)).toBe("genuine");
    expect(await load(reference)).toBe("genuine");
    expect(fetches()).toBe(2);
  });

  it("refuses what the store holds damaged", async () => {
    const { store, put, load } = await open();
    const reference = await put("genuine");
    await store.put(objectKeys.content(reference.sha256), "tampere");
    await expect(load(reference)).rejects.toThrow(CorruptObjectError);
    expect(fs.existsSync(directory)).toBe(false);
  });

  it("evicts the least recently used beyond its limit", async () => {
    const { put, load } = await open(25);
    const references = [];
    for (const [index, text] of ["first 0123", "second 012", "third 0123"].entries()) {
      const reference = await put(text);
      references.push(reference);
      await load(reference);
      const used = new Date(1_000_000 + index * 1_000);
      fs.utimesSync(path.join(directory, reference.sha256), used, used);
    }
    expect(fs.readdirSync(directory).sort()).toEqual([references[1]!.sha256, references[2]!.sha256].sort());
  });

  it("holds at most as much as the disk has free, which the caches of a host's containers share", async () => {
    const disk = 40;
    const folders = ["a", "b"].map((name) => path.join(path.dirname(directory), name));
    const held = (folder: string) =>
      fs.existsSync(folder)
        ? fs.readdirSync(folder).reduce((sum, name) => sum + fs.statSync(path.join(folder, name)).size, 0)
        : 0;
    const freeBytes = async () => disk - folders.reduce((sum, folder) => sum + held(folder), 0);
    const store = createMemoryObjectStore();
    const caches = folders.map((folder) => createShardCache({ store, directory: folder, limitBytes: 1e9, freeBytes }));
    for (let shard = 0; shard < 3; shard += 1) {
      const reference = await store.putContent(`ten bytes${shard}`);
      for (const cache of caches) expect(Buffer.from(await cache.load(reference)).toString()).toBe(`ten bytes${shard}`);
    }
    expect(folders.map(held)).toEqual([10, 10]);
    await caches[0]!.load(await store.putContent("more than half of what is free"));
    expect(folders.map(held)).toEqual([10, 10]);
  });

  it("does without a disk that it cannot write to", async () => {
    fs.writeFileSync(directory, "a file where the folder should be");
    const { put, load } = await open();
    const reference = await put("rows");
    expect(await load(reference)).toBe("rows");
    expect(await load(reference)).toBe("rows");
  });

  it("lets several workers fill it at once", async () => {
    const { put, load } = await open();
    const reference = await put("shared rows");
    expect(await Promise.all(Array.from({ length: 8 }, () => load(reference)))).toEqual(Array(8).fill("shared rows"));
    expect(fs.readdirSync(directory)).toEqual([reference.sha256]);
  });
});
