import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { Hono } from "hono";
import type { ApiEnvironment } from "../../api/http/context";
import { eventText, handleEvents } from "../../api/http/event-body";

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
