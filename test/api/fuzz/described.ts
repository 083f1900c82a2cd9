import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import type { JsonSchema, MediaType, OpenApiDocument, Reference, ResponseObject } from "../../../api/openapi/model";
import type { Described } from "./requests";

/** Holds answers against the document, by a validator that is none of ours. @returns throws where one is not as described */
export function describedBy(
  document: OpenApiDocument,
  operations: ReadonlyMap<string, Described>,
): (operationId: string, response: Response, text: string) => void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } });
  ajv.addSchema({ $id: "api", components: document.components });
  const validators = new Map<JsonSchema, ValidateFunction>();
  const validatorOf = (schema: JsonSchema): ValidateFunction => {
    let validate = validators.get(schema);
    if (validate === undefined) {
      validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object);
      validators.set(schema, validate);
    }
    return validate;
  };

  return (operationId, response, text) => {
    const { status, headers } = response;
    const { operation } = operations.get(operationId)!;
    const found = operation.responses[String(status)];
    // Odd path values may make another path, which answers 404 or 405.
    if (found === undefined && status === 405) {
      if (!headers.get("allow")) throw new Error("405 names no methods in Allow");
      return;
    }
    if (found === undefined && status === 404) return;
    if (found === undefined) throw new Error(`${status} is not described: ${text}`);
    const described = resolved(document, found);
    for (const [name, header] of Object.entries(described.headers ?? {})) {
      const { schema } = "$ref" in header ? document.components.headers[header.$ref.split("/").at(-1)!]! : header;
      const value = headers.get(name);
      if (value === null || !validatorOf(schema)(value)) throw new Error(`${status} has ${name}: ${value}`);
    }
    if (status >= 400) checkRefusal(response, text);
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    const content = described.content ?? {};
    if (Object.keys(content).length === 0) {
      if (type !== "" || text !== "") throw new Error(`${status} is described without a body, and has one: ${type}`);
      return;
    }
    const media: MediaType | undefined = content[type];
    if (media === undefined) throw new Error(`${status} with ${type} is not described`);
    if (media.schema === undefined) return;
    const validate = validatorOf(media.schema);
    if (!validate(JSON.parse(text))) throw new Error(`${JSON.stringify(validate.errors)} in ${text.slice(0, 2_000)}`);
  };
}

function resolved({ components }: OpenApiDocument, found: ResponseObject | Reference): ResponseObject {
  return "$ref" in found ? components.responses[found.$ref.split("/").at(-1)!]! : found;
}

/** Checks the properties of a refusal that the introduction describes. */
function checkRefusal({ status, headers }: Response, text: string): void {
  const { error } = JSON.parse(text) as { readonly error: { readonly requestId: string; readonly message: string } };
  if (/\[object Object\]|\bundefined\b|\n\s+at /.test(error.message)) throw new Error(`a message for nobody: ${text}`);
  const id = headers.get("x-request-id");
  if (error.requestId !== id) throw new Error(`the body's requestId is ${error.requestId}, the header's ${id}`);
  if ((status === 429 || status === 503) && !headers.get("retry-after"))
    throw new Error(`${status} has no retry-after`);
}
