import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from "aws-lambda";
import type { Hono, MiddlewareHandler } from "hono";
import { handle } from "hono/aws-lambda";
import type { ApiEnvironment } from "./context";

export type EventHandler = (event: APIGatewayProxyEvent, context: LambdaContext) => Promise<APIGatewayProxyResult>;

/** An event whose body text is passed separately from its request. */
interface EventWithText extends APIGatewayProxyEvent {
  readonly text?: string;
}

/**
 * Wraps the app as a function behind API Gateway. A body that the gateway passes as text stays a text until a route
 * reads it. Converting it to a request stream and back would cost as much as most routes.
 */
export function handleEvents(app: Hono<ApiEnvironment>): EventHandler {
  const handler = handle(app) as unknown as (
    event: EventWithText,
    context: LambdaContext,
  ) => Promise<APIGatewayProxyResult>;
  return (event, context) => {
    const { body, isBase64Encoded, httpMethod } = event;
    if (!body || isBase64Encoded || httpMethod === "GET" || httpMethod === "HEAD") return handler(event, context);
    return handler({ ...event, body: null, text: body }, context);
  };
}

/**
 * Provides that text to routes as their request's body.
 *
 * @param tooLarge throws
 */
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
