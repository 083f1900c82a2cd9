import { contracts } from "../../../core/api/contracts";
import * as system from "../../../core/api/contracts/system";
import { documentationPage } from "../../../core/api/docs-page/page";
import { openApiDocument } from "../../../core/api/openapi/document";
import type { OpenApiDocument } from "../../../core/api/openapi/model";
import { defineRoute } from "../route";

/** Made once a process, at the first request: each takes longer than any other request. */
let document: OpenApiDocument | undefined;
let page: ReturnType<typeof documentationPage> | undefined;
function description(): OpenApiDocument {
  document ??= openApiDocument(contracts);
  return document;
}

export const systemRoutes = [
  defineRoute(system.getHealth, ({ platform }) => ({
    status: 200,
    body: { status: "ok", prefix: platform.config.prefix },
  })),

  defineRoute(system.getOpenApiDocument, () => ({ status: 200, body: { ...description() } })),

  defineRoute(system.getDocumentation, () => {
    page ??= documentationPage(description());
    const { html, contentSecurityPolicy } = page;
    const headers = {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    };
    return { response: new Response(html, { headers }) };
  }),
];
