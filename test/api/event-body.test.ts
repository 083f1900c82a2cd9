import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { Hono } from "hono";
import type { ApiEnvironment } from "../../api/http/context";
import { eventText, handleEvents } from "../../api/http/event-body";
import { jsonResponse } from "../../api/http/event-request";

const limit = 12;
const app = new Hono<ApiEnvironment>();
app.use(
  eventText(limit, (path) => {
    throw new Error(`${path} takes ${limit} bytes`);
  }),
);
app.onError((error, context) => context.text(error.message, 413));
app.post("/text", async (context) => context.text(await context.req.text()));
app.post("/json", async (context) => context.json(await context.req.json()));
app.post("/bytes", async (context) => context.text(String((await context.req.arrayBuffer()).byteLength)));
app.get("/text", (context) => context.text("nothing to read"));
app.get("/seen", ({ req }) => {
  const { pathname, search } = new URL(req.url);
  return Response.json([pathname, search, req.queries(), req.header()]);
});
app.use("/headers", async (context, next) => {
  await next();
  context.res.headers.set("X-After", "set");
  context.res.headers.append("Vary", "b");
  context.res.headers.delete("x-gone");
});
app.get("/headers", (context) => jsonResponse(context, '{"a":1}', 201, { Vary: "a", "X-Gone": "1", location: "/x" }));
const handler = handleEvents(app);

async function call(path: string, body: string | null, httpMethod = "POST", isBase64Encoded = false) {
  const event = {
    path,
    httpMethod,
    body,
    isBase64Encoded,
    headers: { "content-type": "application/json", host: "h" },
    multiValueHeaders: null,
    multiValueQueryStringParameters: null,
    requestContext: { domainName: "h" },
  } as unknown as APIGatewayProxyEvent;
  const { statusCode, body: answer } = await handler(event, {} as Context);
  return [statusCode, answer];
}

describe("an event's body", () => {
  it.each([
    ["/text", "a text", "a text"],
    ["/text", null, ""],
    ["/text", "", ""],
    ["/json", '{"a": [1]}', '{"a":[1]}'],
    ["/bytes", "zwölf Zei", "10"],
  ])("%s of %j", async (path, body, expected) => {
    expect(await call(path, body)).toEqual([200, expected]);
  });

  it("may be base64", async () => {
    expect(await call("/bytes", Buffer.from([1, 2, 255]).toString("base64"), "POST", true)).toEqual([200, "3"]);
  });

  it.each([
    ["twelve bytes", 200],
    ["thirteen char", 413],
    ["ääääää", 200],
    ["ääääääa", 413],
  ])("is measured in bytes: %j is answered %i", async (body, status) => {
    expect((await call("/text", body))[0]).toBe(status);
  });

  it("is none of a GET", async () => {
    expect(await call("/text", null, "GET")).toEqual([200, "nothing to read"]);
  });
});

describe("an event", () => {
  const event = (path: string, more: object = {}) =>
    ({
      ...{ path, httpMethod: "GET", body: null, isBase64Encoded: false, requestContext: { domainName: "h" } },
      ...{ headers: null, multiValueHeaders: null, queryStringParameters: null, multiValueQueryStringParameters: null },
      ...more,
    }) as unknown as APIGatewayProxyEvent;

  it("has the path, the query and the headers of its request", async () => {
    const { body } = await handler(
      event("/seen", {
        multiValueQueryStringParameters: { a: ["1", "&="], ü: ["é"] },
        multiValueHeaders: { "X-Many": ["a", "b "] },
        headers: { "X-Many": "b", "X-One": "wört", empty: "" },
      }),
      {} as Context,
    );
    expect(JSON.parse(body)).toEqual([
      "/seen",
      "?a=1&a=%26%3D&%C3%BC=%C3%A9",
      { a: ["1", "&="], ü: ["é"] },
      { "x-many": "a, b", "x-one": "w%C3%B6rt" },
    ]);
  });

  it("may have single parameters and a host alone", async () => {
    const one = { queryStringParameters: { a: "1" }, headers: { Host: "h" }, requestContext: {} };
    expect(JSON.parse((await handler(event("/seen", one), {} as Context)).body)).toEqual([
      ...["/seen", "?a=1", { a: ["1"] }, { host: "h" }],
    ]);
  });

  const headers = { "content-type": "application/json", vary: "a, b", location: "/x", "x-after": "set" };
  it.each([
    ["single headers", {}, { headers }],
    [
      "lists of values where its request has them",
      { multiValueHeaders: { host: ["h"] } },
      { multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])) },
    ],
  ])("is answered with %s", async (_what, more, expected) => {
    const result = await handler(event("/headers", more), {} as Context);
    expect(result).toEqual({ statusCode: 201, isBase64Encoded: false, body: '{"a":1}', ...expected });
  });

  it("is answered like a request in process, and a HEAD without a body", async () => {
    const response = await app.request("/headers");
    expect([response.status, await response.text(), response.headers.get("vary")]).toEqual([201, '{"a":1}', "a, b"]);
    const head = await handler(event("/headers", { httpMethod: "HEAD" }), {} as Context);
    expect(head).toMatchObject({ statusCode: 201, body: "" });
  });
});
