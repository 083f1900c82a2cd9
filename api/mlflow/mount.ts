import type { Hono } from "hono";
import { RingmasterError } from "../../core/errors";
import { type ApiEnvironment, checkScope } from "../http/context";
import { pageResponse } from "../http/page-response";
import { startHtml } from "../pages/start-html";
import { MlflowError, mlflowErrorResponse } from "./errors";
import type { MlflowOperation } from "./operation";
import { mlflowVersion } from "./server";

const mlflowPath = /^\/(?:(?:ajax-)?api\/[23]\.0(?:\/|$)|(?:model-versions\/)?get-artifact(?:[/?]|$))/;

/** Returns whether a path belongs to MLflow's protocol, whose errors have their own shape. */
export function isMlflowPath(path: string): boolean {
  return mlflowPath.test(path);
}

/** Mounts the operations under `/api/2.0` and, for MLflow's web pages, under `/ajax-api/2.0`. */
export function mountMlflow(app: Hono<ApiEnvironment>, operations: readonly MlflowOperation[]): void {
  app.get("/version", (context) => context.text(mlflowVersion));
  app.get("/health", (context) => context.text("OK"));
  // MLflow's client prints links to this page after each run.
  app.get("/", () => pageResponse(startHtml()));

  const methods = new Map<string, string[]>();
  for (const { method, path, version = 2, scope, answer } of operations) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
    for (const base of version === "page" ? [""] : [`/api/${version}.0`, `/ajax-api/${version}.0`]) {
      methods.set(`${base}${pattern}`, [...(methods.get(`${base}${pattern}`) ?? []), method]);
      app.on(method, `${base}${pattern}`, (context) => {
        checkScope(context, `${method} ${path}`, scope);
        return answer(context);
      });
    }
  }
  for (const [pattern, allowed] of methods) {
    app.all(pattern, (context) => {
      const error = new RingmasterError(`${context.req.path} takes ${allowed.join(", ")}, not ${context.req.method}`, {
        code: "METHOD_NOT_ALLOWED",
        httpStatus: 405,
      });
      return mlflowErrorResponse(error, context.get("requestId"), { allow: allowed.join(", ") });
    });
  }
  for (const base of ["/api/2.0", "/api/3.0", "/ajax-api/2.0", "/ajax-api/3.0"]) {
    app.all(`${base}/*`, (context) => {
      throw new MlflowError(
        "ENDPOINT_NOT_FOUND",
        `there is no ${context.req.method} ${context.req.path} here: see docs/mlflow.md for what is offered of MLflow's API`,
      );
    });
  }
}
