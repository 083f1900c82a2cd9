import { handle } from "hono/aws-lambda";
import { createPlatform } from "../../adapters/platform";
import { readCorsOrigins, readTeamDirectory } from "../../core/config";
import { createApp } from "./app";

/** The whole API as one function behind API Gateway. */
export const handler = handle(
  createApp(createPlatform(), {
    directory: readTeamDirectory(process.env),
    corsOrigins: readCorsOrigins(process.env),
  }),
);
