import { allOperations } from "../operations";
import { openApiDocument } from "./document";

let text: string | undefined;

/** Returns the document as JSON. The build replaces this function by its result (`scripts/build.js`). */
export function openApiText(): string {
  text ??= JSON.stringify(openApiDocument(allOperations));
  return text;
}
