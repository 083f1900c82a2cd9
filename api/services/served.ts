import { setTimeout as sleep } from "node:timers/promises";
import { RingmasterError } from "../../core/errors";
import { CorruptObjectError } from "../../core/object-documents";
import { registryUnavailable } from "../../core/registry/errors";

interface ServedSources<State> {
  /** Reads from the registry, strongly consistently. */
  resolve(model: string): Promise<State>;
  /** Reads from the bucket: the state of the last change that was written there. */
  find(model: string): Promise<State | undefined>;
}

/**
 * Returns what serving needs, also in an outage of the registry's table (errors and a timeout, after `silence`); its
 * refusals are final. @throws REGISTRY_UNAVAILABLE if the bucket has no pointer either
 */
export async function resolveServed<State>(
  { resolve, find }: ServedSources<State>,
  model: string,
  silence: () => Promise<unknown>,
): Promise<{ readonly resolved: State; readonly source: "registry" | "pointer" }> {
  try {
    const waited = silence().then(() => Promise.reject(new Error("the registry did not answer in time")));
    return { resolved: await Promise.race([resolve(model), waited]), source: "registry" };
  } catch (error) {
    if (error instanceof CorruptObjectError) throw error;
    if (error instanceof RingmasterError && !error.retryable && error.httpStatus < 500) throw error;
    const resolved = await find(model).catch((failure: unknown) => {
      if (failure instanceof CorruptObjectError) throw failure;
      return undefined;
    });
    if (resolved === undefined) throw registryUnavailable(model, error);
    return { resolved, source: "pointer" };
  }
}

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
