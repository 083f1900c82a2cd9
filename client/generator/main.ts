import { contracts } from "../../api/contracts";
import { openApiDocument } from "../../api/openapi/document";
import { clientFiles } from "./files";

/** Every file that is made from the contracts, by its path in the repository. Sources are not yet formatted. */
export function generatedFiles(): Readonly<Record<string, string>> {
  const document = openApiDocument(contracts);
  const sources = Object.entries(clientFiles(document)).map(([name, text]) => [`client/generated/${name}`, text]);
  return {
    "docs/api/openapi.json": `${JSON.stringify(document, null, 2)}\n`,
    ...Object.fromEntries(sources),
  };
}
