import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context as LambdaContext } from "aws-lambda";
import type { Hono, MiddlewareHandler } from "hono";
import { handle } from "hono/aws-lambda";
import type { ApiEnvironment } from "./context";

export type EventHandler = (event: APIGatewayProxyEvent, context: LambdaContext) => Promise<APIGatewayProxyResult>;

/** An event whose text is beside its request, not in it. */
interface EventWithText extends APIGatewayProxyEvent {
  readonly text?: string;
}

/**
 * The app as a function behind API Gateway. A body that the gateway hands over as text stays a text until a route reads it: made a request's stream and read from it
 * again, it would cost as much as what most routes do.
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

/** Gives routes that text as their request's body. `tooLarge` throws. */
export function eventText(maxBytes: number, tooLarge: (path: string) => never): MiddlewareHandler<ApiEnvironment> {
  return (context, next) => {
    const text = (context.env?.event as EventWithText | undefined)?.text;
    if (text !== undefined) {
      // A character has three bytes at most.
      if (text.length > maxBytes / 3 && Buffer.byteLength(text) > maxBytes) tooLarge(context.req.path);
      // Hono awaits what it has cached, and types it as if it had.
      context.req.bodyCache.text = Promise.resolve(text) as unknown as string;
    }
    return next();
  };
}
