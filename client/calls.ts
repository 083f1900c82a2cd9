import { type ApiOperation, type Repeatability, repeatabilityOf } from "../api/operation";
import { allOperations } from "../api/operations";

export interface OperationCall {
  readonly method: ApiOperation["method"];
  /** Path under `/api/v1`, parameters in braces. */
  readonly path: string;
  readonly repeatable: Repeatability;
  readonly pages?: string;
}

let calls: Readonly<Record<string, OperationCall>> | undefined;

/** Returns each call by operation id. The build replaces it by its result, so that no schema is loaded. */
export function operationCalls(): Readonly<Record<string, OperationCall>> {
  calls ??= Object.fromEntries(allOperations.map((operation) => [operation.operationId, callOf(operation)]));
  return calls;
}

function callOf(operation: ApiOperation): OperationCall {
  const { method, path, pages } = operation;
  return { method, path, repeatable: repeatabilityOf(operation), pages };
}
