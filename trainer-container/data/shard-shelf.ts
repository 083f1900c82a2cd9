import { decodeFeatureShard, type FeatureView } from "../../core/features/encoding";
import type { FeatureManifest, FeatureShard } from "../../core/features/shapes";
import type { ShardCache } from "./shard-cache";

/** Some of a split's shards in memory: those being read, and the next ones. */
export interface ShardShelf {
  /** Resolves with the shards once they are in memory. Fetches missing ones, and releases all that are in neither list. */
  hold(now: readonly number[], next: readonly number[]): Promise<ReadonlyMap<number, FeatureView>>;
}

export function createShardShelf(
  shards: readonly FeatureShard[],
  manifest: Pick<FeatureManifest, "transform" | "label">,
  cache: ShardCache,
): ShardShelf {
  const coming = new Map<number, Promise<FeatureView>>();
  const here = new Map<number, FeatureView>();

  const fetch = (shard: number): Promise<FeatureView> => {
    let view = coming.get(shard);
    if (view === undefined) {
      view = cache.load(shards[shard]!).then((bytes) => decodeFeatureShard(bytes, manifest));
      coming.set(shard, view);
      view.then(
        (loaded) => {
          if (coming.get(shard) === view) here.set(shard, loaded);
        },
        () => coming.delete(shard), // the next request tries again
      );
    }
    return view;
  };

  return {
    async hold(now, next) {
      for (const shard of coming.keys()) {
        if (now.includes(shard) || next.includes(shard)) continue;
        coming.delete(shard);
        here.delete(shard);
      }
      const wanted = now.filter((shard) => !here.has(shard)).map(fetch);
      if (wanted.length > 0) await Promise.all(wanted);
      for (const shard of next) fetch(shard);
      return here;
    },
  };
}
