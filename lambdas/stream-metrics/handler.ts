import { streamHandle } from "hono/aws-lambda";
import { createPlatform } from "../../adapters/platform";
import { readCorsOrigins, readPersonalRoles, readTeamDirectory } from "../../platform/config";
import { createStreamApp } from "./app";

/** Runs behind API Gateway in its response transfer mode STREAM, which sends each write immediately. */
export const handler = streamHandle(
  createStreamApp(createPlatform(), {
    directory: readTeamDirectory(process.env),
    personalRoles: readPersonalRoles(process.env),
    corsOrigins: readCorsOrigins(process.env),
  }),
);
