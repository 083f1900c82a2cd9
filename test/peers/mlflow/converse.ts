import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { MlflowCase, Step } from "./case";
import { isError, normalize, refusal, type Saved } from "./normalize";

/** An answer as it is compared and recorded: status, normalised body and the headers that are compared. */
export type Answer = readonly [status: number, body?: unknown, headers?: Readonly<Record<string, string | undefined>>];

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Holds a conversation with the server at `base`. @throws Error where a step's answer lacks what a later one needs */
export async function converse(base: string, { name, steps }: MlflowCase): Promise<readonly Answer[]> {
  const saved = new Map<string, Saved>([["nonce", { value: `n${randomBytes(6).toString("hex")}`, key: "" }]]);
  const answers: Answer[] = [];
  for (const [index, step] of steps.entries()) {
    const received = await send(base, filled(step, saved));
    const body = parsed(received);
    for (const [variable, path] of Object.entries(step.save ?? {})) {
      const value = at(body, path);
      if (value === undefined) {
        throw new Error(
          `${name}, step ${index + 1} (${step.method} ${step.path}): no ${path} in ${received.status} ${received.text.slice(0, 1000)}`,
        );
      }
      saved.set(variable, { value, key: path.split(".").at(-1)! });
    }
    answers.push(answerOf(step, received, body, saved));
  }
  return answers;
}

function answerOf(step: Step, received: Received, body: unknown, saved: ReadonlyMap<string, Saved>): Answer {
  const { compare = {}, says } = step;
  const headers = compare.headers?.map((name) => [name, normalHeader(received.headers[name], saved)] as const);
  const isLeftOut = !isError(body) && (compare.body === "error" || isEmpty(body));
  const shown = isLeftOut ? {} : normalize(isError(body) ? refusal(body, says) : body, saved, Date.now(), compare);
  if (headers) return [received.status, shown, Object.fromEntries(headers)];
  return isLeftOut ? [received.status] : [received.status, shown];
}

function isEmpty(body: unknown): boolean {
  return body !== null && typeof body === "object" && Object.keys(body).length === 0;
}

/**
 * Returns a step with all saved values filled in. A text that is one variable alone becomes its value, whatever its
 * type.
 */
function filled(step: Step, saved: ReadonlyMap<string, Saved>): Step {
  const known = (variable: string): unknown => {
    const found = saved.get(variable);
    if (!found) throw new Error(`${step.method} ${step.path}: nothing was saved as ${variable}`);
    return found.value;
  };
  const fill = (part: unknown): unknown => {
    if (typeof part === "string") {
      const [, whole] = /^<(\w+)>$/.exec(part) ?? [];
      return whole ? known(whole) : part.replaceAll(/<(\w+)>/g, (_, variable: string) => String(known(variable)));
    }
    if (Array.isArray(part)) return part.map(fill);
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [fill(name), fill(item)]));
  };
  const { method, path, query, body, raw, headers } = step;
  return { method, ...(fill({ path, query, body, raw, headers }) as Omit<Step, "method">) };
}

/** Not by `fetch`, which tidies paths up and refuses a body on GET. */
function send(base: string, { method, path, query, body, raw, headers }: Step): Promise<Received> {
  const { hostname, port } = new URL(base);
  const search = new URLSearchParams(
    Object.entries(query ?? {}).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  ).toString();
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        hostname,
        port,
        method,
        path: `${path.startsWith("/") ? path : `/api/2.0/${path}`}${search && `?${search}`}`,
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(content === undefined ? {} : { "content-length": Buffer.byteLength(content) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(content);
  });
}

function parsed({ headers, text }: Received): unknown {
  if (!/^application\/json/.test(String(headers["content-type"]))) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function at(body: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((part, name) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[name], body);
}

function normalHeader(value: string | string[] | undefined, saved: ReadonlyMap<string, Saved>): string | undefined {
  return value === undefined ? undefined : String(normalize(String(value), saved, 0));
}
