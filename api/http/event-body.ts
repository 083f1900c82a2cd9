import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from "aws-lambda";
import type { Hono, MiddlewareHandler } from "hono";
import { handle } from "hono/aws-lambda";
import type { ApiEnvironment } from "./context";
import { EventRequest, JsonReply } from "./event-request";

export type EventHandler = (event: APIGatewayProxyEvent, context: LambdaContext) => Promise<APIGatewayProxyResult>;

interface EventWithText extends APIGatewayProxyEvent {
  readonly text?: string;
}

/**
 * Wraps the app as a function behind API Gateway. A body that the gateway passes as text stays a text until a route
 * reads it. Converting it to a request stream and back would cost as much as most routes.
 */
export function handleEvents(app: Hono<ApiEnvironment>): EventHandler {
  const handler = handle(app) as unknown as EventHandler;

  /** Lets Hono's adapter turn a response of any other kind into a result. */
  const resultOf = (response: Response, event: APIGatewayProxyEvent, context: LambdaContext) =>
    (handle({ fetch: () => response } as unknown as Hono) as unknown as EventHandler)(event, context);

  return async (event, context) => {
    const { body, isBase64Encoded, httpMethod } = event;
    if (httpMethod === "HEAD" || (body && (isBase64Encoded || httpMethod === "GET"))) return handler(event, context);
    const text = body ? { text: body } : {};
    const given: EventWithText = { ...event, body: null, ...text };
    const request = new EventRequest(given) as unknown as Request;
    const bindings = { event: given, requestContext: given.requestContext, lambdaContext: context };
    const response = await app.fetch(request, bindings as ApiEnvironment["Bindings"]);
    if (!(response instanceof JsonReply)) return resultOf(response, given, context);
    const { status: statusCode, content, headers } = response;
    const all = Object.fromEntries(headers);
    return event.multiValueHeaders
      ? { statusCode, body: content, isBase64Encoded: false, multiValueHeaders: valuesOf(all) }
      : { statusCode, body: content, isBase64Encoded: false, headers: all };
  };
}

function valuesOf(headers: Readonly<Record<string, string>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

/** Provides that text to routes as their request's body. @param tooLarge throws */
export function eventText(maxBytes: number, tooLarge: (path: string) => never): MiddlewareHandler<ApiEnvironment> {
  return (context, next) => {
    const text = (context.env?.event as EventWithText | undefined)?.text;
    if (text !== undefined) {
      // A character has at most three bytes.
      if (text.length > maxBytes / 3 && Buffer.byteLength(text) > maxBytes) tooLarge(context.req.path);
      // Hono awaits its cached value, although the type lacks the promise.
      context.req.bodyCache.text = Promise.resolve(text) as unknown as string;
    }
    return next();
  };
}
