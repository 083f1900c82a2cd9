import { RingmasterError } from "../../errors";
import { type ContractOutcome, type ContractReport, violationsText } from "./report";

export class DataContractNotFoundError extends RingmasterError {
  constructor(dataset: string, revision?: number) {
    const what = revision === undefined ? "no data contract" : `no revision ${revision} of its data contract`;
    super(
      `dataset ${JSON.stringify(dataset)} has ${what}; \`ringmaster datasets contract set ${dataset} --file contract.yaml\` sets one`,
      { code: "DATA_CONTRACT_NOT_FOUND", httpStatus: 404, details: { dataset, revision } },
    );
  }
}

/** Thrown when a contract has another revision than the one that the caller changes. */
export class DataContractChangedError extends RingmasterError {
  constructor(dataset: string, expected: number, current: number) {
    const found = current === 0 ? "there is none" : `it has revision ${current}`;
    super(
      `the data contract of ${dataset} was to be changed from revision ${expected}, but ${found}; read it with \`ringmaster datasets contract show ${dataset}\` and set it again`,
      { code: "DATA_CONTRACT_CHANGED", httpStatus: 409, details: { dataset, expected, current } },
    );
  }
}

/** Thrown when rows violate a rule that blocks; has all violations. */
export class DataContractViolatedError extends RingmasterError {
  constructor(
    what: string,
    found: Pick<ContractReport, "revision" | "rows"> & { readonly violations: readonly ContractOutcome[] },
  ) {
    const { revision: number, rows, violations } = found;
    const blocking = violations.filter(({ severity }) => severity === "block");
    const revision = number === undefined ? "" : ` (revision ${number})`;
    super(
      `${what} violates ${blocking.length === 1 ? "a rule" : `${blocking.length} rules`} of the data contract${revision}: ${violationsText(blocking, rows)}; correct the rows, or change the contract`,
      {
        code: "DATA_CONTRACT_VIOLATED",
        httpStatus: 400,
        details: { revision: number, rows, violations },
      },
    );
  }
}
