import path from "node:path";
import { journalsOf, storesOf } from "../../local/storage/stores";

/** Files without data, with the reason. */
const notData: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\/LOCK$/, "is empty; LevelDB locks it"],
  [/\/LOG(\.old)?$/, "LevelDB's diagnostics, which nothing reads"],
  [/^stack\.lock$/, "is made again by each start"],
  [/^stack\.log(\.\d+)?$/, "diagnostics of the stack's process, which nothing reads"],
  [/^cache\//, "copies of objects; their digest is checked at each read, and they are fetched again"],
];

const otherClasses: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^s3\/buckets\//, "objects"],
  [/^logs\//, "logs"],
  [/^tokens\/|^seals\/tokens-required$/, "tokens"],
  [/^iam\/secret$/, "secret"],
  [/^layout\.json$/, "layout"],
  [/^stack\.json$/, "stack file"],
];

/**
 * Returns the class of the campaign for a file of a data directory, or the reason why the file has no data. Both are
 * undefined for an unknown file.
 *
 * @param file relative to the data directory
 */
export function classify(file: string): { readonly class?: string; readonly notData?: string } {
  const why = notData.find(([pattern]) => pattern.test(file))?.[1];
  if (why !== undefined) return { notData: why };
  for (const { store, directory } of storesOf("")) {
    if (path.dirname(file) === directory || file === `seals/${store}.seal`) return { class: `database ${store}` };
  }
  for (const journal of journalsOf("")) {
    if (file === journal.path || file === `seals/${path.basename(journal.path)}.seal`) return { class: "journals" };
  }
  const name = otherClasses.find(([pattern]) => pattern.test(file))?.[1];
  return name === undefined ? {} : { class: name };
}
