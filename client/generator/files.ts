import type { JsonSchema, OpenApiDocument } from "../../api/openapi/model";
import { callOf, mentionedIn, operationsOf, signatureOf } from "./operations";
import { comment, typeOf } from "./types";

const head = "// Made from docs/api/openapi.json by `npm run api`. Do not edit.\n\n";

/** The client's generated sources by name, not yet formatted. One area of the API a file; what several areas have is `shared`. */
export function clientFiles(document: OpenApiDocument): Readonly<Record<string, string>> {
  const { schemas } = document.components;
  const names = Object.keys(schemas);
  const areas = areasOf(document);
  const inArea = (area: string): readonly string[] => names.filter((name) => areas.get(name) === area);
  const schemaAreas = [...new Set(areas.values())].sort();
  const operations = operationsOf(document);
  const tags = document.tags.map(({ name }) => name).filter((tag) => operations.some(({ tags: [own] }) => own === tag));

  const schemaFiles = schemaAreas.map((area) => {
    const text = inArea(area)
      .map((name) => declarationOf(name, schemas[name]!))
      .join("\n\n");
    const others = schemaAreas
      .filter((other) => other !== area)
      .map((other) => importOf(mentionedIn(withoutComments(text), inArea(other)), `./${fileOf(other)}`));
    return [`schemas/${fileOf(area)}.ts`, `${head}${others.join("")}\n${text}\n`] as const;
  });
  const operationFiles = tags.map((tag) => {
    const own = operations.filter(({ tags: [first] }) => first === tag);
    const text = own.map((operation) => signatureOf(document, operation)).join("\n");
    const imports = [
      importOf(
        mentionedIn(withoutComments(text), ["NoInput", "OperationCall"]).concat("OperationCall"),
        "../../operation",
      ),
      importOf(mentionedIn(withoutComments(text), names), "../schemas"),
    ];
    const source = `${head}${imports.join("")}
/** What each operation takes and answers. */
export interface ${typeNameOf(tag)} {
${text}
}

export const ${valueNameOf(tag)}: Readonly<Record<keyof ${typeNameOf(tag)}, OperationCall>> = {
${own.map(callOf).join("\n")}
};
`;
    return [`operations/${fileOf(tag)}.ts`, source] as const;
  });
  return {
    ...Object.fromEntries(schemaFiles),
    ...Object.fromEntries(operationFiles),
    "schemas.ts": `${head}${schemaAreas.map((area) => `export type * from "./schemas/${fileOf(area)}";`).join("\n")}\n`,
    "operations.ts": `${head}${tags.map((tag) => `import { ${valueNameOf(tag)}, type ${typeNameOf(tag)} } from "./operations/${fileOf(tag)}";`).join("\n")}
import type { OperationCall } from "../operation";

export interface Operations extends ${tags.map(typeNameOf).join(", ")} {}

export const operations: Readonly<Record<keyof Operations, OperationCall>> = {
${tags.map((tag) => `...${valueNameOf(tag)},`).join("\n")}
};
`,
  };
}

function declarationOf(name: string, schema: JsonSchema): string {
  const plain = schema["type"] === "object" && schema["properties"] !== undefined;
  const words = comment(schema["description"]);
  return plain
    ? `${words}export interface ${name} ${typeOf(schema)}`
    : `${words}export type ${name} = ${typeOf(schema)};`;
}

/** Each named schema's area: the tag whose operations mention it, themselves or by other schemas; `shared` where several do. */
function areasOf(document: OpenApiDocument): ReadonlyMap<string, string> {
  const { schemas } = document.components;
  const tagsOf = new Map<string, Set<string>>(Object.keys(schemas).map((name) => [name, new Set()]));
  const visit = (value: unknown, tag: string): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const tags = tagsOf.get(name!);
      if (tags === undefined || tags.has(tag)) continue;
      tags.add(tag);
      visit(schemas[name!], tag);
    }
  };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) visit(operation, operation.tags[0]!);
  }
  return new Map([...tagsOf].map(([name, tags]) => [name, tags.size === 1 ? [...tags][0]! : "shared"]));
}

function importOf(names: readonly string[], from: string): string {
  const unique = [...new Set(names)].sort();
  return unique.length === 0 ? "" : `import type { ${unique.join(", ")} } from "${from}";\n`;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*\*.*?\*\//g, "");
}

/** `Training runs` → `training-runs`. */
function fileOf(area: string): string {
  return area.toLowerCase().replaceAll(/\W+/g, "-");
}

/** `Training runs` → `TrainingRunsOperations`. */
function typeNameOf(tag: string): string {
  return `${tag.replaceAll(/(?:^|\W+)(\w)/g, (_, letter: string) => letter.toUpperCase())}Operations`;
}

function valueNameOf(tag: string): string {
  const name = typeNameOf(tag);
  return name.charAt(0).toLowerCase() + name.slice(1);
}
