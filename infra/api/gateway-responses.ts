import { type ErrorCode, errorCatalogue } from "../../api/errors";

/**
 * The gateway's answer as an error of the API. Templates cannot escape text; `$context.error.messageString` is quoted.
 */
interface GatewayResponse {
  readonly statusCode: number;
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates: Readonly<Record<string, string>>;
}

/** By response type (docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html). */
const codes: Readonly<Record<string, ErrorCode>> = {
  ACCESS_DENIED: "FORBIDDEN",
  AUTHORIZER_CONFIGURATION_ERROR: "INTERNAL",
  AUTHORIZER_FAILURE: "INTERNAL",
  API_CONFIGURATION_ERROR: "INTERNAL",
  BAD_REQUEST_BODY: "INVALID_INPUT",
  BAD_REQUEST_PARAMETERS: "INVALID_INPUT",
  EXPIRED_TOKEN: "UNAUTHENTICATED",
  INTEGRATION_FAILURE: "BAD_GATEWAY",
  INTEGRATION_TIMEOUT: "TIMED_OUT",
  INVALID_SIGNATURE: "UNAUTHENTICATED",
  // Every path and method has a route, so this response has no other cause.
  MISSING_AUTHENTICATION_TOKEN: "UNAUTHENTICATED",
  REQUEST_TOO_LARGE: "BODY_TOO_LARGE",
  RESOURCE_NOT_FOUND: "ROUTE_NOT_FOUND",
  THROTTLED: "THROTTLED",
  UNAUTHORIZED: "UNAUTHENTICATED",
  UNSUPPORTED_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  WAF_FILTERED: "FORBIDDEN",
};

const words: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED:
    "sign the request (AWS Signature Version 4, service execute-api) or send a valid bearer token, as this deployment is configured",
  INVALID_INPUT: "the request does not match the schema of its operation: see GET /api/v1/openapi.json",
  THROTTLED: "too many requests: send it again after a pause",
};

/** @param forBrowsers whether pages of other origins may read them; they contain nothing secret */
export function gatewayResponses(forBrowsers: boolean): Readonly<Record<string, GatewayResponse>> {
  const named = Object.entries(codes).map(([type, code]) => [
    type,
    response(
      code,
      errorCatalogue[code].status,
      JSON.stringify(words[code] ?? errorCatalogue[code].meaning),
      forBrowsers,
    ),
  ]);
  return {
    ...Object.fromEntries(named),
    // Other types keep the gateway's own status and message.
    DEFAULT_4XX: response("INVALID_INPUT", 400, "$context.error.messageString", forBrowsers),
    DEFAULT_5XX: response("INTERNAL", 500, "$context.error.messageString", forBrowsers),
  };
}

function response(code: ErrorCode, statusCode: number, message: string, forBrowsers: boolean): GatewayResponse {
  return {
    statusCode,
    responseParameters: {
      "gatewayresponse.header.x-request-id": "context.requestId",
      ...(forBrowsers ? { "gatewayresponse.header.access-control-allow-origin": "'*'" } : {}),
      ...(statusCode === 429 ? { "gatewayresponse.header.retry-after": "'1'" } : {}),
    },
    responseTemplates: {
      "application/json": `{"error":{"code":"${code}","message":${message},"requestId":"$context.requestId"}}`,
    },
  };
}
