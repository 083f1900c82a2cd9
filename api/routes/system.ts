import * as system from "../contracts/system";
import { documentationPage } from "../docs-page";
import { pageResponse } from "../http/page-response";
import { defineRoute } from "../http/route";
import type { OpenApiDocument } from "../openapi/model";
import { openApiText } from "../openapi/text";

let page: ReturnType<typeof documentationPage> | undefined;

export const systemRoutes = [
  defineRoute(system.getHealth, ({ platform }) => ({
    status: 200,
    body: { status: "ok", prefix: platform.config.prefix },
  })),

  defineRoute(system.getOpenApiDocument, () => ({
    response: new Response(openApiText(), { headers: { "content-type": "application/json" } }),
  })),

  defineRoute(system.getDocumentation, () => {
    page ??= documentationPage(JSON.parse(openApiText()) as OpenApiDocument);
    return { response: pageResponse(page) };
  }),
];
