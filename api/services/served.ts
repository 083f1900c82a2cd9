import { setTimeout as sleep } from "node:timers/promises";
import { resolveServed, type ServedSources } from "../../core/registry/serve-production";

/** Time limit of the registry, after which the bucket is read. */
const registryTimeMs = 3_000;

/** Returns what serving needs, from the registry or, in its outage, from the bucket; by the wall clock. */
export async function served<State>(sources: ServedSources<State>, model: string) {
  const stop = new AbortController();
  const silence = () => sleep(registryTimeMs, undefined, { signal: stop.signal, ref: false });
  try {
    return await resolveServed(sources, model, silence);
  } finally {
    stop.abort();
  }
}
