import type { OpenApiDocument } from "../../core/api/openapi/model";
import { callOf, mentionedIn, operationsOf, signatureOf } from "./operations";
import { comment, typeOf } from "./types";

const head = "// Made from docs/api/openapi.json by `npm run api`. Do not edit.\n\n";

/** The client's generated sources by name, not yet formatted. */
export function clientFiles(document: OpenApiDocument): Readonly<Record<string, string>> {
  const schemas = document.components.schemas;
  const types = Object.entries(schemas).map(([name, schema]) => {
    const words = comment(schema["description"]);
    const plain = schema["type"] === "object" && schema["properties"] !== undefined;
    return plain
      ? `${words}export interface ${name} ${typeOf(schema)}`
      : `${words}export type ${name} = ${typeOf(schema)};`;
  });
  const operations = operationsOf(document);
  const signatures = operations.map((operation) => signatureOf(document, operation)).join("\n");
  const used = mentionedIn(signatures.replaceAll(/\/\*\*.*?\*\//g, ""), Object.keys(schemas));
  return {
    "schemas.ts": `${head}${types.join("\n\n")}\n`,
    "operations.ts": `${head}import type { ${used.join(", ")} } from "./schemas";

/** Operations that take nothing. */
type NoInput = Readonly<Record<never, never>>;

/** What each operation takes and answers. */
export interface Operations {
${signatures}
}

/** How an operation is called. */
export interface OperationCall {
readonly method: string;
/** Under \`/api/v1\`, parameters in braces. */
readonly path: string;
/** Whether sending it again is safe: always, with an Idempotency-Key only, or never. */
readonly repeatable: "always" | "with-key" | "never";
/** The array in the answer that goes on at \`nextToken\`. */
readonly pages?: string;
}

export const operations: Readonly<Record<keyof Operations, OperationCall>> = {
${operations.map(callOf).join("\n")}
};
`,
  };
}
