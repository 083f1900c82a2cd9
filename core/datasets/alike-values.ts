import { type CountedText, valueLimit } from "./profile";

const maxGroups = 10;
/** Marks at the end of a text of several characters; `+` and `-` are part of grades. */
const lastMarks = /(?<=[\p{L}\p{N}]{2})[^\p{L}\p{M}\p{N}+-]+$/u;
/** Such marks after one character, as in `C#` and `A*`. */
const fewMarks = /[.,;:!?/\\|'"_]+$/u;

/**
 * Groups texts that differ only by case, blanks or a mark at their end, such as `Yes`, `yes ` and `YES.`: the groups with
 * most rows first, at most ten. Columns with more than 1,000 texts have none.
 */
export function alikeTexts(texts: readonly CountedText[]): readonly (readonly CountedText[])[] {
  if (texts.length > valueLimit) return [];
  const groups = new Map<string, CountedText[]>();
  for (const text of texts) {
    const bare = text.value.normalize("NFKC").toLowerCase().replaceAll(/\s+/gu, "");
    const key = bare.replace(lastMarks, "").replace(fewMarks, "") || bare;
    groups.set(key, [...(groups.get(key) ?? []), text]);
  }
  const rowsOf = (group: readonly CountedText[]): number => group.reduce((sum, { count }) => sum + count, 0);
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .sort((a, b) => rowsOf(b) - rowsOf(a))
    .slice(0, maxGroups)
    .map((group) => group.toSorted((a, b) => b.count - a.count));
}
