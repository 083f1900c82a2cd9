import type { ApiClient } from "../../client/api-client";
import { InvalidInputError } from "../../core/errors";

/** Returns the version of `NAME` or `NAME@3`, with the state of its rows. @throws InvalidInputError */
export function viewAt(client: ApiClient, reference: string) {
  const [, view, version] = /^([^@]+)(?:@(\d{1,9}))?$/.exec(reference.trim()) ?? [];
  if (view === undefined) {
    const rule = "must be NAME or NAME@VERSION";
    throw new InvalidInputError("the feature view is not valid", [{ path: "view", value: reference, rule }]);
  }
  return version === undefined
    ? client.call("getFeatureView", { params: { view } })
    : client.call("getFeatureViewVersion", { params: { view, version: Number(version) } });
}
