import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";

/**
 * Returns the format of the access log: one JSON line per request with the caller, the route, the status, the duration,
 * and the reason if the gateway itself refused the request.
 */
export function accessLogFormat(): AccessLogFormat {
  const fields = {
    requestId: "requestId",
    traceId: "xrayTraceId",
    time: "requestTimeEpoch",
    ip: "identity.sourceIp",
    userAgent: "identity.userAgent",
    userArn: "identity.userArn",
    principal: "authorizer.principalId",
    subject: "authorizer.claims.sub",
    method: "httpMethod",
    route: "resourcePath",
    path: "path",
    protocol: "protocol",
    status: "status",
    bytes: "responseLength",
    milliseconds: "responseLatency",
    integrationMilliseconds: "integration.latency",
    integrationStatus: "integration.status",
    functionRequestId: "integration.requestId",
    error: "error.responseType",
    reason: "error.validationErrorString",
    waf: "wafResponseCode",
  };
  const entries = Object.entries(fields).map(([name, variable]) => [name, `$context.${variable}`]);
  return AccessLogFormat.custom(JSON.stringify(Object.fromEntries(entries)));
}
