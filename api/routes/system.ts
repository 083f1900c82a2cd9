import { documentationPage } from "../docs-page";
import { pageResponse } from "../http/page-response";
import { defineReplyRoute, defineRoute } from "../http/route";
import type { OpenApiDocument } from "../openapi/model";
import { openApiText } from "../openapi/text";
import * as system from "../operations/system";

let page: ReturnType<typeof documentationPage> | undefined;

export const systemRoutes = [
  defineRoute(system.getHealth, ({ platform }) => ({ status: "ok", prefix: platform.config.prefix })),

  defineReplyRoute(system.getOpenApiDocument, () => ({
    response: new Response(openApiText(), { headers: { "content-type": "application/json" } }),
  })),

  defineReplyRoute(system.getDocumentation, () => {
    page ??= documentationPage(JSON.parse(openApiText()) as OpenApiDocument);
    return { response: pageResponse(page) };
  }),
];
