import { setTimeout as sleep } from "node:timers/promises";
import { resolveServed, type ServedSources } from "../../core/registry/serve-production";

/** So long the registry has for an answer before the bucket is asked. */
const registryTimeMs = 3_000;

/** What serving needs, from the registry or, in its outage, from the bucket; by the wall clock. */
export async function served<Told>(sources: ServedSources<Told>, model: string) {
  const stop = new AbortController();
  const silence = () => sleep(registryTimeMs, undefined, { signal: stop.signal, ref: false });
  try {
    return await resolveServed(sources, model, silence);
  } finally {
    stop.abort();
  }
}
