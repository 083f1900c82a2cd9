import type { DatasetManifest } from "../shapes";
import type { DataContract } from "./rules";

/** The version to which a rule refers, by the rule's place; `none`: there is no such dataset or earlier version. */
export type OtherVersions = ReadonlyMap<number, DatasetManifest | { readonly problem: string } | "none">;

export interface VersionLookup {
  find(name: string, version: number): Promise<DatasetManifest | undefined>;
  /** Returns the newest version that is not deprecated. */
  findActive(name: string): Promise<DatasetManifest | undefined>;
  /** Returns the newest version, deprecated or not. */
  findNewest(name: string): Promise<DatasetManifest | undefined>;
}

/**
 * Looks up the other versions that a contract's rules need.
 *
 * @param checked the version that is checked; without a number it will be the next one
 */
export async function findOtherVersions(
  { rules }: DataContract,
  checked: { readonly name: string; readonly version?: number | undefined },
  lookup: VersionLookup,
): Promise<OtherVersions> {
  const others = new Map<number, DatasetManifest | { readonly problem: string } | "none">();
  const lookups = new Map<string, Promise<DatasetManifest | undefined>>();
  /** Equal versions are one object, so that their rules are measured together. */
  const once = (key: string, find: () => Promise<DatasetManifest | undefined>) => {
    const started = lookups.get(key) ?? find();
    lookups.set(key, started);
    return started;
  };
  const numbered = (name: string, version: number) => once(`${name}@${version}`, () => lookup.find(name, version));
  const previous = async () => {
    if (checked.version !== undefined) return numbered(checked.name, checked.version - 1);
    const newest = await once(`${checked.name}@newest`, () => lookup.findNewest(checked.name));
    return newest && numbered(newest.name, newest.version);
  };
  const absenceOf = async (name: string) => {
    const exists = (await once(`${name}@newest`, () => lookup.findNewest(name))) !== undefined;
    return exists ? { problem: `${name} has no version that is not deprecated` } : "none";
  };
  for (const [index, rule] of rules.entries()) {
    if (rule.rule === "reference") {
      const { dataset, version } = rule.references;
      if (version === undefined) {
        others.set(index, (await once(dataset, () => lookup.findActive(dataset))) ?? (await absenceOf(dataset)));
      } else {
        others.set(
          index,
          (await numbered(dataset, version)) ?? { problem: `there is no version ${dataset}@${version}` },
        );
      }
    }
    if (rule.rule !== "drift") continue;
    if (rule.baseline === "previous")
      others.set(index, checked.version === 1 ? "none" : ((await previous()) ?? "none"));
    else {
      const problem = `there is no version ${checked.name}@${rule.baseline}`;
      others.set(index, (await numbered(checked.name, rule.baseline)) ?? { problem });
    }
  }
  return others;
}

/** Returns what identifies the other versions, for the hash of a step's inputs. */
export function identityOf(others: OtherVersions): unknown {
  return [...others].map(([index, other]) => [index, other === "none" || "problem" in other ? other : other.digest]);
}
