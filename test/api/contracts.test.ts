import { pathParameters, responseSchema } from "../../api/contract";
import { contracts } from "../../api/contracts";
import { errorCatalogue, errorCodesOf } from "../../api/errors";
import type { OpenApiDocument } from "../../api/openapi/model";
import { openApiText } from "../../api/openapi/text";
import { routes } from "../../api/routes";

const named = contracts.map((contract) => [contract.operationId, contract] as const);

describe("each contract", () => {
  it.each(named)("%s names the parameters of its path", (_id, { path, params }) => {
    const { properties = {} } = openApiSchema(params);
    expect(Object.keys(properties)).toEqual(pathParameters(path));
  });

  it.each(named)("%s has examples that keep its schemas", (_id, contract) => {
    if (contract.body) expect(contract.body.safeParse(contract.bodyExample ?? {}).error).toBeUndefined();
    for (const answer of Object.values(contract.responses)) {
      if (answer.content !== undefined) continue;
      expect(answer.example).toBeDefined();
      expect(responseSchema(answer).safeParse(answer.example).error).toBeUndefined();
    }
  });

  it.each(named)("%s answers 2xx or a code that the catalogue has", (_id, contract) => {
    expect(Object.keys(contract.responses).filter((status) => !/^(2\d\d|303|304|307)$/.test(status))).toEqual([]);
    for (const code of errorCodesOf(contract)) expect(errorCatalogue[code].status).toBeGreaterThanOrEqual(400);
  });

  it.each(named)("%s that changes something can be sent again, or says that it cannot", (_id, contract) => {
    if (contract.method === "GET") expect(contract.idempotent).toBe(true);
    expect(contract.idempotent && contract.idempotencyKey).toBe(false);
  });
});

function openApiSchema(schema: (typeof contracts)[number]["params"]): { readonly properties?: object } {
  return "shape" in schema ? { properties: schema.shape as object } : {};
}

it("names and routes are unique, and each contract has its one route", () => {
  expect(new Set(contracts.map(({ operationId }) => operationId)).size).toBe(contracts.length);
  expect(new Set(contracts.map(({ method, path }) => `${method} ${path}`)).size).toBe(contracts.length);
  expect(routes.map(({ contract }) => contract.operationId).sort()).toEqual(
    contracts.map(({ operationId }) => operationId).sort(),
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
