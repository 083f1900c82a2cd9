import { errorCatalogue, errorCodesOf } from "../../api/errors";
import { exampleOf } from "../../api/openapi/example";
import type { OpenApiDocument } from "../../api/openapi/model";
import { openApiText } from "../../api/openapi/text";
import { pathParameters, responseSchema } from "../../api/operation";
import { allOperations } from "../../api/operations";
import { routes } from "../../api/routes";

const named = allOperations.map((operation) => [operation.operationId, operation] as const);

describe("each operation", () => {
  it.each(named)("%s names the parameters of its path", (_id, { path, params }) => {
    const { properties = {} } = openApiSchema(params);
    expect(Object.keys(properties)).toEqual(pathParameters(path));
  });

  it.each(named)("%s has examples that keep its schemas", (_id, operation) => {
    if (operation.body) expect(operation.body.safeParse(operation.bodyExample ?? {}).error).toBeUndefined();
    for (const answer of Object.values(operation.responses)) {
      if (answer.content !== undefined) continue;
      const schema = responseSchema(answer);
      expect(schema.safeParse(answer.example ?? exampleOf(schema)).error).toBeUndefined();
    }
  });

  it.each(named)("%s answers 2xx or a code that the catalogue has", (_id, operation) => {
    expect(Object.keys(operation.responses).filter((status) => !/^(2\d\d|303|304|307)$/.test(status))).toEqual([]);
    for (const code of errorCodesOf(operation)) expect(errorCatalogue[code].status).toBeGreaterThanOrEqual(400);
  });

  it.each(named)("%s that changes something can be sent again, or says that it cannot", (_id, operation) => {
    if (operation.method === "GET") expect(operation.idempotent).toBe(true);
    expect(operation.idempotent && operation.idempotencyKey).toBe(false);
  });
});

function openApiSchema(schema: (typeof allOperations)[number]["params"]): { readonly properties?: object } {
  return "shape" in schema ? { properties: schema.shape as object } : {};
}

it("names and routes are unique, and each operation has its one route", () => {
  expect(new Set(allOperations.map(({ operationId }) => operationId)).size).toBe(allOperations.length);
  expect(new Set(allOperations.map(({ method, path }) => `${method} ${path}`)).size).toBe(allOperations.length);
  expect(routes.map(({ operation }) => operation.operationId).sort()).toEqual(
    allOperations.map(({ operationId }) => operationId).sort(),
  );
});

describe("the document", () => {
  const document = JSON.parse(openApiText()) as OpenApiDocument;

  it("refers to nothing that it lacks, and has nothing that nobody refers to", () => {
    const references = new Set(
      [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map((m) => m[1]),
    );
    const { securitySchemes: _, ...components } = document.components;
    const there = Object.entries(components).flatMap(([kind, members]) =>
      Object.keys(members).map((name) => `${kind}/${name}`),
    );
    expect([...references].sort()).toEqual(there.sort());
  });

  it("says of defaults, bounds and required members what the schemas say", () => {
    const { parameters } = document.paths["/training-runs"]!["get"]!;
    expect(parameters[0]).toEqual({
      name: "limit",
      in: "query",
      required: false,
      description: "Maximum number.",
      schema: { type: "integer", minimum: 1, maximum: 200, default: 50 },
    });
    const submit = document.paths["/training-runs"]!["post"]!;
    expect(submit.requestBody?.required).toBe(true);
    expect(submit.parameters).toEqual([
      { $ref: "#/components/parameters/Team" },
      { $ref: "#/components/parameters/IdempotencyKey" },
    ]);
    expect(Object.keys(submit.responses)).toEqual(
      expect.arrayContaining(["201", "400", "404", "409", "413", "415", "429", "500"]),
    );
    expect(submit["x-ringmaster"]).toEqual({
      ...{ class: "write", scope: "write", function: "api", repeatable: "with-key" },
    });
    const rollback = document.paths["/models/{name}/rollback"]!["post"]!;
    expect(rollback.requestBody?.required).toBe(false);
    expect(rollback["x-ringmaster"].repeatable).toBe("with-key");
  });

  it("lets answers grow: clients must bear members that they do not know", () => {
    expect(document.components.schemas["Run"]).not.toHaveProperty("additionalProperties");
    expect(document.components.schemas["JobInput"]).toHaveProperty("additionalProperties", false);
  });
});
