import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";

/** One JSON line per request with caller, route, status, duration, and why the gateway itself refused it. */
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
