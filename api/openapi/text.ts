import { contracts } from "../contracts";
import { openApiDocument } from "./document";

let text: string | undefined;

/** Returns the document as JSON. The build replaces this function by its result (`scripts/build.js`). */
export function openApiText(): string {
  text ??= JSON.stringify(openApiDocument(contracts));
  return text;
}
