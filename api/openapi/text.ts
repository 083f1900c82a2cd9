import { contracts } from "../contracts";
import { openApiDocument } from "./document";

let text: string | undefined;

/**
 * Returns the OpenAPI document as JSON. The build replaces this function by its result (`scripts/build.js`), so that a request
 * never waits for the document to be built.
 */
export function openApiText(): string {
  text ??= JSON.stringify(openApiDocument(contracts));
  return text;
}
