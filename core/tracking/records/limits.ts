import * as z from "zod";

/**
 * Limits of a record. They equal those of MLflow 3, so that both APIs have the same rules. Characters are UTF-16 units.
 */
export const limits = {
  experimentName: 500,
  experimentTagValue: 5_000,
  runName: 250,
  key: 250,
  paramValue: 6_000,
  tagValue: 8_000,
  notes: 100_000,
  /** Maximum number of entries of one request. A record is limited only by its row's size. */
  entries: 1_000,
} as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const control = /[\u0000-\u001f\u007f]/;

/** Key of a param, a tag or a metric. */
export const keyText = z
  .string()
  .min(1)
  .max(limits.key)
  .refine((key) => !control.test(key), "must have no control characters");

const atMost = <Value>(values: Readonly<Record<string, Value>>): boolean =>
  Object.keys(values).length <= limits.entries;
const tooMany = `must be at most ${limits.entries} in a call`;

export const paramsInput = z.record(keyText, z.string().max(limits.paramValue)).refine(atMost, tooMany);
export const tagsInput = z.record(keyText, z.string().max(limits.tagValue)).refine(atMost, tooMany);
/** `null` removes a tag. */
export const tagChanges = z.record(keyText, z.string().max(limits.tagValue).nullable()).refine(atMost, tooMany);

export const experimentName = z
  .string()
  .min(1)
  .max(limits.experimentName)
  .refine((name) => !control.test(name), "must have no control characters")
  .refine((name) => name.trim() !== "", "must not be blank");
