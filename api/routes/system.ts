import { setImmediate } from "node:timers/promises";
import { contracts } from "../contracts";
import * as system from "../contracts/system";
import { documentationPage } from "../docs-page/page";
import { defineRoute } from "../http/route";
import { openApiSteps } from "../openapi/document";
import type { OpenApiDocument } from "../openapi/model";

const maxSliceMs = 20;

/** Built once a process, at the first request. */
let document: Promise<OpenApiDocument> | undefined;
let page: ReturnType<typeof documentationPage> | undefined;
function description(): Promise<OpenApiDocument> {
  document ??= build();
  return document;
}

/** Other requests are answered between the slices. */
async function build(): Promise<OpenApiDocument> {
  const steps = openApiSteps(contracts);
  for (;;) {
    const end = performance.now() + maxSliceMs;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < end);
    await setImmediate();
  }
}

export const systemRoutes = [
  defineRoute(system.getHealth, ({ platform }) => ({
    status: 200,
    body: { status: "ok", prefix: platform.config.prefix },
  })),

  defineRoute(system.getOpenApiDocument, async () => ({ status: 200, body: { ...(await description()) } })),

  defineRoute(system.getDocumentation, async () => {
    page ??= documentationPage(await description());
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
