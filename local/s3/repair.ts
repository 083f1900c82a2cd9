import fs from "node:fs";
import { isDamage } from "./damage";
import { Disk } from "./disk";
import { type BinaryKey, fromBinary } from "./keys";
import { FolderCache, listObjects } from "./listing";
import { readObject } from "./operations/read";
import { Store } from "./store";

export interface DamagedObject {
  readonly bucket: string;
  readonly key: string;
  readonly reason: string;
  delete(): void;
}

export async function* damagedObjects(dataDirectory: string): AsyncGenerator<DamagedObject> {
  const disk = new Disk(dataDirectory);
  const store = new Store(disk, Date);
  const everything = { prefix: "", delimiter: "", after: "", limit: Number.POSITIVE_INFINITY };
  for (const { name: bucket } of store.buckets.list()) {
    for (const item of listObjects(store, bucket, everything, new FolderCache()).items) {
      if ("commonPrefix" in item) continue;
      const key = item.key as BinaryKey;
      const reason = await damageOf(store, bucket, key);
      if (reason === undefined) continue;
      yield {
        ...{ bucket, key: fromBinary(key), reason },
        delete: () => fs.rmSync(disk.object(bucket, key), { force: true }),
      };
    }
  }
}

async function damageOf(store: Store, bucket: string, key: BinaryKey): Promise<string | undefined> {
  try {
    const open = store.open(bucket, key);
    try {
      for await (const _ of readObject(store, bucket, open, { start: 0, end: open.record.size - 1 }));
    } finally {
      open.release();
    }
    return undefined;
  } catch (error) {
    if (isDamage(error)) return (error.cause as Error).message;
    throw error;
  }
}
