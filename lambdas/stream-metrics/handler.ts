import { streamHandle } from "hono/aws-lambda";
import { deploy } from "../../adapters/port";
import { readScope } from "../../adapters/process-scope";
import { readCorsOrigins, readPersonalRoles, readTeamDirectory } from "../../platform/config";
import { createStreamApp, streamPorts } from "./app";

/** Runs behind API Gateway in its response transfer mode STREAM, which sends each write immediately. */
export const handler = streamHandle(
  createStreamApp(deploy(readScope(process.env), streamPorts), {
    directory: readTeamDirectory(process.env),
    personalRoles: readPersonalRoles(process.env),
    corsOrigins: readCorsOrigins(process.env),
  }),
);
