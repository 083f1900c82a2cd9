import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { SignatureError } from "./iam/signature-error";
import { BodyTooLarge, readBody, ServiceError } from "./wire";

/**
 * The fields of a request in AWS's query protocol, which STS, SNS and IAM use. The request is a form, and the answer is XML.
 */
export type Fields = URLSearchParams;
export type Xml = string | readonly Xml[] | { readonly [name: string]: Xml };

/**
 * Reads a request's fields and writes the result of `perform` by element name. A list is written as one `member` per
 * element.
 */
export async function serveQuery(
  request: IncomingMessage,
  response: ServerResponse,
  { namespace, maxBytes }: { readonly namespace: string; readonly maxBytes: number },
  perform: (action: string, fields: Fields) => Xml | Promise<Xml>,
): Promise<void> {
  try {
    const fields = new URLSearchParams((await readBody(request, maxBytes)).toString("utf8"));
    const action = fields.get("Action") ?? "";
    const result = xml(`${action}Result`, await perform(action, fields));
    const metadata = xml("ResponseMetadata", { RequestId: randomUUID() });
    answer(response, 200, `<${action}Response xmlns="${namespace}">${result}${metadata}</${action}Response>`);
  } catch (error) {
    const refusal =
      error instanceof BodyTooLarge ? new ServiceError("RequestEntityTooLarge", 413, error.message) : error;
    if (!(refusal instanceof ServiceError)) throw error;
    answer(response, refusal.httpStatus, errorXml(refusal, namespace));
  }
}

/** Sends an error that occurred before any operation was called. */
export function sendQueryError(response: ServerResponse, error: ServiceError): void {
  answer(response, error.httpStatus, errorXml(error, "http://webservices.amazon.com/AWSFault/2005-15-09"));
}

function errorXml(error: ServiceError, namespace: string): string {
  const { code, httpStatus, message } = error;
  const sentCode = error instanceof SignatureError ? error.codeIn("query") : code;
  // The query protocol has another name for this error.
  const Code = sentCode === "AccessDeniedException" ? "AccessDenied" : sentCode;
  const element = xml("Error", { Type: httpStatus >= 500 ? "Receiver" : "Sender", Code, Message: message });
  return `<ErrorResponse xmlns="${namespace}">${element}${xml("RequestId", randomUUID())}</ErrorResponse>`;
}

function xml(name: string, value: Xml): string {
  return `<${name}>${inside(value)}</${name}>`;
}

function inside(value: Xml): string {
  if (typeof value === "string") return value.replace(/[<>&]/g, (c) => ({ "<": "&lt;", ">": "&gt;" })[c] ?? "&amp;");
  if (Array.isArray(value)) return value.map((each: Xml) => xml("member", each)).join("");
  return Object.entries(value)
    .map(([name, each]) => xml(name, each))
    .join("");
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "text/xml", "content-length": Buffer.byteLength(body) });
  response.end(body);
}
