import { problemsOf } from "../../core/problems";
import { errorCatalogue, errorCodesOf } from "../errors";
import { type ApiOperation, responseSchema } from "../operation";
import { errorBody } from "../schemas/common";

/** Thrown when a response breaks its description: a defect of the API, found by a test. */
export class BrokenAnswerError extends Error {
  constructor(operation: ApiOperation, status: number, why: string) {
    super(`${operation.operationId} answered ${status}, which breaks its description: ${why}`);
    this.name = "BrokenAnswerError";
  }
}

/** Checks status, media type, and every member of the body, without additional members. */
export async function checkResponse(operation: ApiOperation, response: Response): Promise<void> {
  const { status } = response;
  const promised = operation.responses[status];
  if (promised === undefined) throw new BrokenAnswerError(operation, status, "it names no such status");
  const missing = Object.keys(promised.headers ?? {}).filter((name) => !response.headers.get(name));
  if (missing.length > 0) throw new BrokenAnswerError(operation, status, `it has no ${missing.join(", ")}`);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const types = promised.content ?? ["application/json"];
  if (type === "" && types.length === 0) return;
  if (!types.includes(type)) throw new BrokenAnswerError(operation, status, `${type} is none of ${types.join(", ")}`);
  if (type !== "application/json") return;
  const body: unknown = await response.clone().json();
  const parsed = responseSchema(promised).safeParse(body, { reportInput: true });
  if (!parsed.success) throw new BrokenAnswerError(operation, status, JSON.stringify(problemsOf(parsed.error)));
  // A schema omits unknown members.
  const undocumented = leftOut(body, parsed.data);
  if (undocumented.length > 0) {
    throw new BrokenAnswerError(operation, status, `it does not document ${undocumented.join(", ")}`);
  }
}

/** Checks an error response. Returns it, or describes how it breaks the description. */
export async function checkedRefusal(
  operation: ApiOperation | undefined,
  error: Error,
  response: Response,
): Promise<Response> {
  let broken = error;
  try {
    if (operation && !(error instanceof BrokenAnswerError)) {
      checkErrorBody(operation, response.status, await response.clone().json());
      return response;
    }
  } catch (cause) {
    broken = cause as Error;
  }
  if (!(broken instanceof BrokenAnswerError)) return response;
  return Response.json({ error: { code: "BROKEN_CONTRACT", message: broken.message } }, { status: 500 });
}

function checkErrorBody(operation: ApiOperation, status: number, body: unknown): void {
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) throw new BrokenAnswerError(operation, status, JSON.stringify(problemsOf(parsed.error)));
  const code = errorCodesOf(operation).find((each) => each === parsed.data.error.code);
  if (code === undefined) throw new BrokenAnswerError(operation, status, `it names no code ${parsed.data.error.code}`);
  if (errorCatalogue[code].status !== status) {
    throw new BrokenAnswerError(operation, status, `${code} means ${errorCatalogue[code].status}`);
  }
}

/** Returns the paths that are in `whole` but not in `part`. */
function leftOut(whole: unknown, part: unknown, path = ""): readonly string[] {
  if (whole === null || typeof whole !== "object") return [];
  const fields = part as Readonly<Record<string, unknown>>;
  return Object.entries(whole).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return Object.hasOwn(fields, key) ? leftOut(value, fields[key], at) : [at];
  });
}
