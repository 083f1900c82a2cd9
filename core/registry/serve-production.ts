import { RingmasterError } from "../errors";
import { CorruptObjectError } from "../object-errors";
import { RegistryUnavailableError } from "./errors";

/** Of something that serving needs. */
export interface ServedSources<Told> {
  /** From the registry, strongly consistent. */
  resolve(model: string): Promise<Told>;
  /** From the bucket: as of the last change that was seen there. */
  find(model: string): Promise<Told | undefined>;
}

/**
 * What serving needs, whatever has become of the registry's table. The registry's own refusals (there is no such model, no champion) are answers and stand;
 * anything else is taken for an outage, and so is silence. Damage is neither: it is reported, and nothing is served in its place.
 *
 * @param silence resolves when the registry has had its time
 * @throws RegistryUnavailableError where the bucket has no pointer either
 */
export async function resolveServed<Told>(
  { resolve, find }: ServedSources<Told>,
  model: string,
  silence: () => Promise<unknown>,
): Promise<{ readonly resolved: Told; readonly source: "registry" | "pointer" }> {
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
    if (resolved === undefined) throw new RegistryUnavailableError(model, error);
    return { resolved, source: "pointer" };
  }
}
