import { withMlflowTag } from "../../../core/tracking/member-tags";
import type { ParamConflict } from "../../../core/tracking/records/errors";
import type { RunRecord } from "../../../core/tracking/shapes";

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/**
 * Adds params and tags; returns the same record if nothing changes.
 *
 * @throws the error of `refuse` if a param would change
 */
export function withParamsAndTags(
  record: RunRecord,
  params: readonly KeyValue[],
  tags: readonly KeyValue[],
  refuse: (conflicts: readonly ParamConflict[]) => Error,
): RunRecord {
  const conflicts: ParamConflict[] = [];
  const added: Record<string, string> = {};
  for (const { key, value } of params) {
    if (!Object.hasOwn(record.params, key)) added[key] = value;
    else if (record.params[key] !== value) conflicts.push({ key, known: record.params[key]!, given: value });
  }
  if (conflicts.length > 0) throw refuse(conflicts);
  const withParams = Object.keys(added).length === 0 ? record : { ...record, params: { ...record.params, ...added } };
  return tags.reduce((changed, { key, value }) => withMlflowTag(changed, key, value), withParams);
}

/** Returns `undefined` if there is nothing to write. */
export function unlessSame(before: RunRecord, after: RunRecord): RunRecord | undefined {
  return after === before ? undefined : after;
}
