/** `mlflow/exceptions.py`, ERROR_CODE_TO_HTTP_STATUS, of the codes that are in use here. */
const statusOf: Readonly<Record<string, readonly number[]>> = {
  BAD_REQUEST: [400],
  // 413 and 415 are the platform's own, which MLflow has no codes for.
  INVALID_PARAMETER_VALUE: [400, 413, 415],
  RESOURCE_ALREADY_EXISTS: [400],
  UNAUTHENTICATED: [401],
  PERMISSION_DENIED: [403],
  ENDPOINT_NOT_FOUND: [404, 405],
  RESOURCE_DOES_NOT_EXIST: [404],
  RESOURCE_CONFLICT: [409],
  // MLflow's server answers it so.
  INVALID_STATE: [500],
  NOT_IMPLEMENTED: [501],
};
/** Failures that are answers: what is documented as not offered, and one that MLflow's server calls so. */
const meant: ReadonlySet<string> = new Set(["NOT_IMPLEMENTED", "INVALID_STATE"]);

/** @returns the JSON of a success. Throws where an answer is not as MLflow's clients know answers. */
export function judge(method: string, response: Response, text: string): unknown {
  const { status, headers } = response;
  if (!headers.get("x-request-id")) throw new Error("there is no x-request-id");
  if (status >= 400 && status !== 416) {
    if (method !== "HEAD") checkRefusal(status, headers, text);
    return undefined;
  }
  if (status >= 300) {
    const location = headers.get("location");
    if (status !== 416 && !URL.canParse(location ?? "", "http://here/"))
      throw new Error(`${status} leads to ${location}`);
    return undefined;
  }
  if (method === "HEAD" || !headers.get("content-type")?.startsWith("application/json")) return undefined;
  if (headers.has("content-disposition")) return undefined;
  const answer: unknown = JSON.parse(text);
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) throw new Error(`a success is ${text}`);
  const hole = holeIn(answer);
  if (hole !== undefined) throw new Error(`a success has null at ${hole}: protobuf's JSON leaves such members out`);
  return answer;
}

function checkRefusal(status: number, headers: Headers, text: string): void {
  const { error_code: code, message, ...rest } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if (typeof code !== "string" || typeof message !== "string" || message === "" || Object.keys(rest).length > 0)
    throw new Error(`${status} is no {error_code, message}: ${text}`);
  if (!statusOf[code]?.includes(status)) throw new Error(`${code} came with ${status}: ${message}`);
  if (status >= 500 && !meant.has(code)) throw new Error(`${status}: ${text}`);
  if (status === 405 && !headers.get("allow")) throw new Error("405 names no methods in Allow");
  if (/\[object Object\]|\bundefined\b|\n\s+at /.test(message)) throw new Error(`a message for nobody: ${message}`);
}

function holeIn(value: unknown, path = ""): string | undefined {
  if (value === null) return path;
  if (typeof value !== "object") return undefined;
  for (const [name, member] of Object.entries(value)) {
    const hole = holeIn(member, `${path}.${name}`);
    if (hole !== undefined) return hole;
  }
  return undefined;
}
