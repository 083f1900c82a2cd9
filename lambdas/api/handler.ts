import { createPlatform } from "../../adapters/platform";
import { createApp } from "../../api/app";
import { handleEvents } from "../../api/http/event-body";
import { readCorsOrigins, readPersonalRoles, readTeamDirectory } from "../../platform/config";

/** Serves the whole API as one function behind API Gateway. */
export const handler = handleEvents(
  createApp(createPlatform(), {
    directory: readTeamDirectory(process.env),
    personalRoles: readPersonalRoles(process.env),
    corsOrigins: readCorsOrigins(process.env),
  }),
);
