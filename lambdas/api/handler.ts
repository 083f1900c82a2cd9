import { handle } from "hono/aws-lambda";
import { platformPorts } from "../../adapters/platform";
import { deploy } from "../../adapters/port";
import { readScope } from "../../adapters/process-scope";
import { createApp } from "../../api/app";
import { readCorsOrigins, readPersonalRoles, readTeamDirectory } from "../../platform/config";
import { granted, once } from "../function-handler";

const app = once(() =>
  handle(
    createApp(deploy(readScope(process.env), platformPorts), {
      directory: readTeamDirectory(process.env),
      personalRoles: readPersonalRoles(process.env),
      corsOrigins: readCorsOrigins(process.env),
    }),
  ),
);

/** The whole API as one function behind API Gateway. */
export const handler = granted(platformPorts, (...given: Parameters<ReturnType<typeof app>>) => app()(...given));
