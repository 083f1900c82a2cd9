import type { Step } from "../case";

export const root = "mlflow-artifacts/artifacts";
export const put = (path: string, raw = "hello"): Step => ({ method: "PUT", path: `${root}/${path}`, raw });
export const get = (path: string, compare: Step["compare"] = {}): Step => ({
  method: "GET",
  path: `${root}/${path}`,
  compare,
});
export const list = (path?: string): Step => ({
  method: "GET",
  path: root,
  ...(path === undefined ? {} : { query: { path } }),
});
export const remove = (path: string): Step => ({ method: "DELETE", path: `${root}/${path}` });
export const headers = ["content-type", "content-disposition", "x-content-type-options"];
