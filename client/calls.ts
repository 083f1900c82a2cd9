import { type Contract, type Repeatability, repeatabilityOf } from "../api/contract";
import { contracts } from "../api/contracts";

export interface OperationCall {
  readonly method: Contract["method"];
  /** Path under `/api/v1`, parameters in braces. */
  readonly path: string;
  readonly repeatable: Repeatability;
  readonly pages?: string;
}

let calls: Readonly<Record<string, OperationCall>> | undefined;

/** Returns each call by operation id. The build replaces it by its result, so that no schema is loaded. */
export function operationCalls(): Readonly<Record<string, OperationCall>> {
  calls ??= Object.fromEntries(contracts.map((contract) => [contract.operationId, callOf(contract)]));
  return calls;
}

function callOf(contract: Contract): OperationCall {
  const { method, path, pages } = contract;
  return { method, path, repeatable: repeatabilityOf(contract), pages };
}
