import { contracts } from "../../../core/api/contracts";
import * as system from "../../../core/api/contracts/system";
import { openApiDocument } from "../../../core/api/openapi/document";
import type { OpenApiDocument } from "../../../core/api/openapi/model";
import { defineRoute } from "../route";

/** Made once a process, when somebody asks. */
let document: OpenApiDocument | undefined;

export const systemRoutes = [
  defineRoute(system.getHealth, ({ platform }) => ({
    status: 200,
    body: { status: "ok", prefix: platform.config.prefix },
  })),

  defineRoute(system.getOpenApiDocument, () => {
    document ??= openApiDocument(contracts);
    return { status: 200, body: { ...document } };
  }),
];
