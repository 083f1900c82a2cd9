import { numericsIdentity } from "../../runs/numerics";
import type { RunRecord } from "../shapes";
import type { Row } from "./comparison";
import { differs, rowsOf } from "./pivot";

/** Returns the rows, other than params, that differ between the runs. */
export function differencesOf(records: readonly RunRecord[]): {
  readonly code: readonly Row[];
  readonly data: readonly Row[];
  readonly environment: readonly Row[];
} {
  const differing = (fieldsOf: (record: RunRecord) => Readonly<Record<string, string | undefined>>): readonly Row[] =>
    rowsOf(records.map((record) => defined(fieldsOf(record)))).filter(differs);
  return {
    code: differing(codeFields),
    data: differing(dataFields),
    environment: differing(environmentFields),
  };
}

function codeFields({ code }: RunRecord): Readonly<Record<string, string | undefined>> {
  return {
    commit: code.commit,
    dirty: code.dirty === undefined ? undefined : String(code.dirty),
    repository: code.repository,
    branch: code.branch,
    diff: code.diffSha256,
    module: code.moduleSha256,
    "entry point": code.entryPoint,
  };
}

/** Combines the digests if a run reads several datasets of one name. */
function dataFields({ datasets }: RunRecord): Readonly<Record<string, string | undefined>> {
  const digests = new Map<string, string[]>();
  for (const { name, version, digest } of datasets) {
    const shown = version === undefined ? digest : `version ${version} (${digest.slice(0, 12)})`;
    digests.set(name, [...(digests.get(name) ?? []), shown]);
  }
  return Object.fromEntries([...digests].map(([name, all]) => [name, all.sort().join(", ")]));
}

function environmentFields({ environment, seed }: RunRecord): Readonly<Record<string, string | undefined>> {
  const { lockfileSha256, image, imageDigest, numerics, hardware } = environment;
  return {
    seed: seed === undefined ? undefined : String(seed),
    lockfile: lockfileSha256,
    image: imageDigest ?? image,
    "hardware.instances": hardware?.instanceTypes.join(", ") || undefined,
    "hardware.cpu": hardware?.cpu,
    "hardware.gpu": hardware?.gpu,
    ...(numerics === undefined
      ? {}
      : Object.fromEntries(
          Object.entries(numericsIdentity(numerics)).map(([field, value]) => [`numerics.${field}`, value]),
        )),
  };
}

function defined(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
