import { createPlatform } from "../../adapters/platform";
import { readCorsOrigins, readPersonalRoles, readTeamDirectory } from "../../core/config";
import { createApp } from "./app";
import { handleEvents } from "./event-body";

/** The whole API as one function behind API Gateway. */
export const handler = handleEvents(
  createApp(createPlatform(), {
    directory: readTeamDirectory(process.env),
    personalRoles: readPersonalRoles(process.env),
    corsOrigins: readCorsOrigins(process.env),
  }),
);
