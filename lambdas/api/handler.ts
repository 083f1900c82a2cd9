import { platformPorts } from "../../adapters/platform";
import { deploy } from "../../adapters/port";
import { readScope } from "../../adapters/process-scope";
import { createApp } from "../../api/app";
import { handleEvents } from "../../api/http/event-body";
import { readCorsOrigins, readPersonalRoles, readTeamDirectory } from "../../platform/config";
import { granted, once } from "../function-handler";

const app = once(() =>
  handleEvents(
    createApp(deploy(readScope(process.env), platformPorts), {
      directory: readTeamDirectory(process.env),
      personalRoles: readPersonalRoles(process.env),
      corsOrigins: readCorsOrigins(process.env),
    }),
  ),
);

/** The whole API as one function behind API Gateway. */
export const handler = granted(platformPorts, (...given: Parameters<ReturnType<typeof app>>) => app()(...given));
