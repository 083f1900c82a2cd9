import { streamHandle } from "hono/aws-lambda";
import { createPlatform } from "../../adapters/platform";
import { readCorsOrigins, readPersonalRoles, readTeamDirectory } from "../../platform/config";
import { createStreamApp } from "./app";

/** Behind API Gateway in its response transfer mode STREAM: what is written leaves at once. */
export const handler = streamHandle(
  createStreamApp(createPlatform(), {
    directory: readTeamDirectory(process.env),
    personalRoles: readPersonalRoles(process.env),
    corsOrigins: readCorsOrigins(process.env),
  }),
);
