import type { OwnerKeys } from "../../../adapters/files/owner-keys";
import { openApiDocument } from "../../../api/openapi/document";
import { allOperations } from "../../../api/operations";
import { apiSources } from "./api-sources";
import { awsSource } from "./aws-source";
import type { FuzzCallers, RequestSource } from "./source";

export interface FuzzTarget {
  readonly api: string;
  readonly endpoint: string;
  readonly keys: OwnerKeys;
}

export function createSources(
  { api, endpoint, keys }: FuzzTarget,
  callers: FuzzCallers,
  seed: number,
): readonly RequestSource[] {
  return [...apiSources(api, openApiDocument(allOperations), callers, seed), awsSource(endpoint, keys, seed)];
}
