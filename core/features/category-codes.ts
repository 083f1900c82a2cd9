import type { Category } from "../datasets/profile";
import { murmurHash3 } from "./murmur-hash";
import type { FeatureOutput } from "./shapes";

/** The fields of a one-hot that map values to positions. */
type Codes = Pick<Extract<FeatureOutput, { readonly kind: "one-hot" }>, "vocabulary" | "other" | "buckets">;

/** Returns the position of a category in its one-hot; -1 if the value is missing, or unknown without a place for others. */
export function codeLookup({ vocabulary, other, buckets }: Codes): (value: Category | undefined) => number {
  if (buckets !== undefined) return (value) => (value === undefined ? -1 : murmurHash3(String(value)) % buckets);
  const codes = new Map(vocabulary.map((value, code) => [value, code]));
  const unknown = other ? vocabulary.length : -1;
  return (value) => (value === undefined ? -1 : (codes.get(value) ?? unknown));
}
