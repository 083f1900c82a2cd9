import { problemsOf } from "../../core/problems";
import { type Contract, responseSchema } from "../contract";
import { errorCatalogue, errorCodesOf } from "../errors";
import { errorBody } from "../schemas/common";

/** Thrown when a response breaks its contract: a defect of the API, found by a test. */
export class BrokenContractError extends Error {
  constructor(contract: Contract, status: number, why: string) {
    super(`${contract.operationId} answered ${status}, which breaks its contract: ${why}`);
    this.name = "BrokenContractError";
  }
}

/** Checks status, media type, and every member of the body, without additional members. */
export async function checkResponse(contract: Contract, response: Response): Promise<void> {
  const { status } = response;
  const promised = contract.responses[status];
  if (promised === undefined) throw new BrokenContractError(contract, status, "it names no such status");
  const missing = Object.keys(promised.headers ?? {}).filter((name) => !response.headers.get(name));
  if (missing.length > 0) throw new BrokenContractError(contract, status, `it has no ${missing.join(", ")}`);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const types = promised.content ?? ["application/json"];
  if (type === "" && types.length === 0) return;
  if (!types.includes(type)) throw new BrokenContractError(contract, status, `${type} is none of ${types.join(", ")}`);
  if (type !== "application/json") return;
  const body: unknown = await response.clone().json();
  const parsed = responseSchema(promised).safeParse(body, { reportInput: true });
  if (!parsed.success) throw new BrokenContractError(contract, status, JSON.stringify(problemsOf(parsed.error)));
  // A schema omits unknown members.
  const undocumented = leftOut(body, parsed.data);
  if (undocumented.length > 0) {
    throw new BrokenContractError(contract, status, `it does not document ${undocumented.join(", ")}`);
  }
}

/** Checks an error response. Returns it, or describes how it breaks the contract. */
export async function checkedRefusal(
  contract: Contract | undefined,
  error: Error,
  response: Response,
): Promise<Response> {
  let broken = error;
  try {
    if (contract && !(error instanceof BrokenContractError)) {
      checkErrorBody(contract, response.status, await response.clone().json());
      return response;
    }
  } catch (cause) {
    broken = cause as Error;
  }
  if (!(broken instanceof BrokenContractError)) return response;
  return Response.json({ error: { code: "BROKEN_CONTRACT", message: broken.message } }, { status: 500 });
}

function checkErrorBody(contract: Contract, status: number, body: unknown): void {
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) throw new BrokenContractError(contract, status, JSON.stringify(problemsOf(parsed.error)));
  const code = errorCodesOf(contract).find((known) => known === parsed.data.error.code);
  if (code === undefined) throw new BrokenContractError(contract, status, `it names no code ${parsed.data.error.code}`);
  if (errorCatalogue[code].status !== status) {
    throw new BrokenContractError(contract, status, `${code} means ${errorCatalogue[code].status}`);
  }
}

/** Returns the paths that are in `whole` but not in `part`. */
function leftOut(whole: unknown, part: unknown, path = ""): readonly string[] {
  if (whole === null || typeof whole !== "object") return [];
  const known = part as Readonly<Record<string, unknown>>;
  return Object.entries(whole).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return Object.hasOwn(known, key) ? leftOut(value, known[key], at) : [at];
  });
}
