import { BoundedMap } from "../../core/bounded-map";

/** What MLflow takes for a name of a param, a metric or a tag (`mlflow/utils/validation.py`). */
const permitted = /^[/\p{L}\p{N}_.\- :]*$/u;

/** What is wrong with a name, in MLflow's words; `undefined` where nothing is. Many names come again with each batch: what was found good is known. */
export function problemOfName(name: string): string | undefined {
  if (good.has(name)) return undefined;
  if (name === "__proto__") return "Names must not be __proto__, which a JavaScript object cannot have as a key.";
  if (!permitted.test(name)) {
    return "Names may only contain alphanumerics, underscores (_), dashes (-), periods (.), spaces ( ), colon(:) and slashes (/).";
  }
  const normal = normalPath(name);
  if (normal !== name || normal === "." || normal.startsWith("..") || normal.startsWith("/")) {
    return `Names may be treated as files in certain cases, and must not resolve to other names when treated as such. This name would resolve to '${normal}'`;
  }
  good.set(name, true);
  return undefined;
}

const mostKnown = 10_000;
const good = new BoundedMap<string, true>(mostKnown);

/** Python's `posixpath.normpath`. */
export function normalPath(path: string): string {
  if (path === "") return ".";
  const root = path.startsWith("//") && !path.startsWith("///") ? "//" : path.startsWith("/") ? "/" : "";
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== ".." || (root === "" && parts.length === 0) || parts.at(-1) === "..") parts.push(part);
    else parts.pop();
  }
  return root + parts.join("/") || ".";
}

/** In code points, as Python counts. */
export function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || [...text].length > limit);
}

/** Up to that many code points. */
export function truncated(text: string, limit: number): string {
  return isLongerThan(text, limit) ? [...text.slice(0, 2 * limit)].slice(0, limit).join("") : text;
}
