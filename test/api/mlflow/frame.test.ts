import { Hono } from "hono";
import type { ApiEnvironment } from "../../../api/http/context";
import { doesNotExist, mlflowErrorResponse } from "../../../api/mlflow/errors";
import { boolean, double, integer, list, message, oneOf, required, text } from "../../../api/mlflow/fields";
import { isMlflowPath, mountMlflow } from "../../../api/mlflow/mount";
import { operation } from "../../../api/mlflow/operation";
import { InvalidInputError, RingmasterError } from "../../../core/errors";

const view = oneOf({ ACTIVE_ONLY: 1, DELETED_ONLY: 2, ALL: 3 });
const fields = {
  run_id: { ...required(text), alias: "run_uuid" },
  max_results: integer,
  value: double,
  view_type: view,
  flag: boolean,
  order_by: list(text),
  tags: list(message({ key: text, value: text })),
};

function app() {
  const hono = new Hono<ApiEnvironment>();
  mountMlflow(hono, [
    operation("POST /mlflow/echo", fields, async ({ fields: read }) => ({ ...read, value: String(read.value) })),
    operation("GET /mlflow/echo", fields, async ({ fields: read }) => ({ ...read, value: String(read.value) })),
    operation("PATCH /mlflow/things/{thing_id}", {}, async ({ params }) => params),
    operation("DELETE /mlflow/things/{thing_id}", { run_id: required(text) }, async ({ fields: read }) => read),
    operation("POST /mlflow/nothing", {}, async () => undefined),
    operation("GET /mlflow/missing", {}, async () => {
      throw doesNotExist("Run with id=x not found");
    }),
  ]);
  hono.onError((error) => mlflowErrorResponse(error as RingmasterError, "request-1"));
  return hono;
}

async function post(path: string, body: unknown, method = "POST"): Promise<{ status: number; body: unknown }> {
  const response = await app().request(path, {
    method,
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const echo = "/api/2.0/mlflow/echo";

describe("requests", () => {
  it("reads what protobuf's JSON mapping reads", async () => {
    const body = {
      run_id: "r",
      maxResults: "12",
      value: "-Infinity",
      view_type: 3,
      flag: true,
      unknown: { deep: [1] },
    };
    const answer = await post(echo, { ...body, tags: [{ key: "a", value: null, other: 1 }], order_by: ["x"] });
    expect(answer.body).toEqual({
      run_id: "r",
      max_results: 12,
      value: "-Infinity",
      view_type: "ALL",
      flag: true,
      order_by: ["x"],
      tags: [{ key: "a" }],
    });
  });

  it("reads a query: repeated parameters are lists, booleans are words", async () => {
    const response = await app().request(`${echo}?run_uuid=r&order_by=a&flag=True&value=1e3&max_results=7`);
    expect(await response.json()).toMatchObject({
      run_id: "r",
      order_by: ["a"],
      flag: true,
      value: "1000",
      max_results: 7,
    });
  });
});

describe("answers", () => {
  it("has the path's parameters, and the web pages' paths", async () => {
    expect((await post("/ajax-api/2.0/mlflow/things/m-1", {}, "PATCH")).body).toEqual({ thing_id: "m-1" });
  });

  it("leads a browser that follows the client's links to the run's page", async () => {
    const response = await app().request("/");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(await response.text()).toContain("api/v1/pages/runs/");
  });

  it("names the methods of a path", async () => {
    const response = await app().request("/api/2.0/mlflow/things/a");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "PATCH, DELETE"]);
  });

  it.each(["/api/2.0/mlflow/traces", "/api/3.0/mlflow/gateway/secrets/list", "/ajax-api/2.0/mlflow/x"])(
    "says of %s that it is not offered",
    async (path) => {
      const response = await app().request(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error_code: "ENDPOINT_NOT_FOUND" });
    },
  );
});

describe("errors", () => {
  const ours = (code: string, httpStatus: number) => new RingmasterError("no", { code, httpStatus });
  it.each([
    ["RESOURCE_DOES_NOT_EXIST", 404, doesNotExist("no")],
    ["INVALID_PARAMETER_VALUE", 400, new InvalidInputError("x", [{ path: "a", rule: "b" }])],
    ["RESOURCE_ALREADY_EXISTS", 400, ours("EXPERIMENT_EXISTS", 409)],
    ["PERMISSION_DENIED", 403, ours("GATE_NOT_PASSED", 409)],
    ["RESOURCE_CONFLICT", 409, ours("RUN_ENDED", 409)],
    ["UNAUTHENTICATED", 401, ours("UNAUTHENTICATED", 401)],
    ["PERMISSION_DENIED", 403, ours("NOT_IN_TEAM", 403)],
    ["ENDPOINT_NOT_FOUND", 404, ours("ROUTE_NOT_FOUND", 404)],
    ["INVALID_PARAMETER_VALUE", 413, ours("BODY_TOO_LARGE", 413)],
    ["INTERNAL_ERROR", 500, ours("INTERNAL", 500)],
    ["TEMPORARILY_UNAVAILABLE", 503, ours("RUN_BUSY", 503)],
    ["RESOURCE_EXHAUSTED", 507, ours("STORAGE_FULL", 507)],
  ])("%s is %i", async (code, status, error) => {
    const response = mlflowErrorResponse(error, "request-1");
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error_code: code, message: error.message });
  });

  it.each([
    ["/api/2.0/mlflow/runs/get", true],
    ["/ajax-api/2.0/mlflow-artifacts/artifacts/a", true],
    ["/api/v1/runs", false],
    ["/api/2.0x", false],
    ["/get-artifact", true],
    ["/get-artifact?path=a", true],
    ["/model-versions/get-artifact/", true],
    ["/get-artifacts", false],
  ])("%s: %s", (path, is) => expect(isMlflowPath(path)).toBe(is));
});
