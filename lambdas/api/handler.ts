import { handle } from "hono/aws-lambda";
import { createPlatform } from "../../adapters/platform";
import { createApp } from "./app";

/** The whole API as one function behind API Gateway. */
export const handler = handle(createApp(createPlatform()));
