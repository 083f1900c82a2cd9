import fc, { type Arbitrary } from "fast-check";
import { camelCase, shapesOf } from "../../../../api/mlflow/fields";
import type { MlflowOperation } from "../../../../api/mlflow/operation";
import { damaged, hostile, hostileText } from "../../fuzz/arbitrary";
import type { Knowledge, Thing } from "../../fuzz/knowledge";
import { rawRequests } from "./raw-requests";
import { endsThings, objectOf, senseOf } from "./values";

/** A request in which `@{run_id}` stands for what is known by that name. */
export interface Draft {
  /** `POST /mlflow/runs/create` */
  readonly operation: string;
  readonly method: string;
  /** With the query, as it is sent but for placeholders. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The body's characters are bytes, not all of them UTF-8. */
  readonly bytes?: boolean;
  /** Selects one of the things that fit. */
  readonly at: number;
  /** By the app that streams bodies, where it has the operation. */
  readonly streamed: boolean;
  /** Is sent twice. */
  readonly repeated: boolean;
}

export const nameOf = ({ method, path }: MlflowOperation): string => `${method} ${path}`;

/** Bodies that may break parsers. */
const oddBodies = [
  "",
  "null",
  "[]",
  '"x"',
  '"{\\"run_id\\": 1}"',
  "{",
  '{"run_id": NaN}',
  '{"run_id": "\\ud800"}',
  '{"__proto__": {"run_id": "a"}}',
  '{"constructor": 1, "toString": 2, "hasOwnProperty": 3}',
  '{"value": 1e999, "timestamp": 123456789012345678901234567890}',
  '{"run_id": "a", "run_id": "b", "runId": "c"}',
  "[".repeat(50_000),
  `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  `{"run_id": "${"x".repeat(100_000)}"}`,
  "\u0000",
  "\ufeff{}",
  "run_id=a&key=b",
];

/** Bytes that are no text. */
const oddBytes = [
  '{"run_id": "\u00ff\u00fe"}',
  '{"run_id": "\u00ed\u00a0\u0080"}',
  "\u0000\u00ff",
  "\u001f\u008b\u0008",
];
const oddQueries = [
  ...[
    "run_id=%ff%fe",
    "run_id=%ed%a0%80",
    "=&&=a",
    "run_id[]=1",
    "run_id=%",
    "run_id=a&run_id=b&runId=c",
    "%00=%00",
    "+",
  ],
  ...[
    "max_results=1e3",
    "max_results=NaN",
    "max_results=%20",
    `filter=${"a".repeat(30_000)}`,
    "__proto__=a",
    "filter=%27%00%27",
  ],
];

/** Right requests of an operation, nearly right ones, and nonsense. */
export function draftsOf(operation: MlflowOperation): Arbitrary<Draft> {
  if (operation.fields === undefined) return finished(operation, rawRequests(operation));
  const { method, path, fields } = operation;
  const sense = senseOf(method, path);
  const members = shapesOf(fields);
  const required = Object.entries(fields).flatMap(([name, field]) => (field.required ? [name] : []));
  const right = fc
    .tuple(objectOf(members, sense, 0.5), objectOf(members, sense, 1))
    .map(([some, all]) => ({ ...Object.fromEntries(required.map((name) => [name, all[name]])), ...some }));
  const odd = fc.tuple(right, hostileText, hostile).map(([body, name, value]) => ({ ...body, [name]: value }));
  const camel = right.map((body) =>
    Object.fromEntries(Object.entries(body).map(([name, value]) => [camelCase(name), value])),
  );
  const members_ = fc.oneof(
    { weight: 20, arbitrary: right },
    { weight: 5, arbitrary: right.chain(damaged) },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: camel },
    { weight: 1, arbitrary: hostile },
  );
  if (method === "GET") {
    const query = fc.oneof(
      { weight: 25, arbitrary: members_.map(queryOf) },
      { weight: 1, arbitrary: fc.constantFrom(...oddQueries) },
    );
    return finished(
      operation,
      query.map((each) => ({ query: each })),
    );
  }
  const texts = fc.oneof(
    { weight: 20, arbitrary: members_.map((body) => JSON.stringify(body) ?? "") },
    { weight: 1, arbitrary: right.map((body) => JSON.stringify(JSON.stringify(body))) },
    { weight: 1, arbitrary: fc.constantFrom(...oddBodies) },
  );
  return finished(
    operation,
    fc.oneof(
      { weight: 40, arbitrary: fc.record({ body: texts, type: contentTypes }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...oddBytes).map((body) => ({ body, type: "application/json", bytes: true })),
      },
    ),
  );
}

const contentTypes = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom("application/json", "application/json; charset=utf-8") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      ";",
      "a/b; json",
    ),
  },
);

/** A request's own part: behind the operation's path, or instead of it. */
export interface Own {
  readonly query?: string;
  readonly body?: string;
  readonly bytes?: boolean;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Behind a path that ends in `*`. */
  readonly behind?: string;
}

function finished({ method, path, version = 2 }: MlflowOperation, own: Arbitrary<Own>): Arbitrary<Draft> {
  const bases = version === "page" ? [""] : [`/api/${version}.0`, `/ajax-api/${version}.0`];
  const prefix = endsThings(method, path) ? "doomed_" : "";
  const wrongMethod = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS");
  const inPath = fc.oneof(
    { weight: 25, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: hostileText.map((text) => encodeURIComponent(Buffer.from(text).toString())) },
  );
  return fc
    .record({
      own,
      base: fc.constantFrom(...bases),
      at: fc.nat(10_000),
      streamed: fc.boolean(),
      repeated: fc.nat(9).map((chance) => chance === 0),
      method: fc.oneof({ weight: 40, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: wrongMethod }),
      inPath,
      // At the server's root another name is nobody's of MLflow's.
      behind: fc.constantFrom(...Array(40).fill(""), "/", ...(version === "page" ? [] : ["/x", "%00", "//"])),
    })
    .map(
      ({
        own: { query = "", body, bytes = false, type, headers, behind: file = "" },
        base,
        inPath: odd,
        behind,
        ...rest
      }) => {
        const plain = path
          .replaceAll(/\{(\w+)\}/g, (_, name: string) => odd ?? `@{${prefix}${name}}`)
          .replace(/\*$/, file);
        const takesBody = body !== undefined && rest.method !== "GET" && rest.method !== "HEAD";
        return {
          operation: `${method} ${path}`,
          ...rest,
          path: `${base}${plain}${behind}${query === "" ? "" : `?${query}`}`,
          headers: { ...headers, ...(takesBody && type !== undefined ? { "content-type": type } : {}) },
          ...(takesBody ? { body, bytes } : {}),
        };
      },
    );
}

/** Lists by repetition; what is no text as JSON. */
function queryOf(body: unknown): string {
  if (body === null || typeof body !== "object") return encodeURIComponent(Buffer.from(String(body)).toString());
  const written = (value: unknown): string =>
    encodeURIComponent(
      Buffer.from(typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toString(),
    ).replaceAll(/%40%7B(\w+)%7D/g, "@{$1}");
  return Object.entries(body)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one) => `${written(name)}=${written(one)}`),
    )
    .join("&");
}

const placeholder = /@\{(\w+)\}/g;

/** The draft with what is known put into it, and the thing that it is about. */
export function filled(draft: Draft, knowledge: Knowledge): { readonly request: Draft; readonly thing: Thing } {
  const { path, body, at } = draft;
  const names = [...`${path}${body ?? ""}`.matchAll(placeholder)].map(([, name]) => name!);
  const thing = knowledge.choose(names, at);
  const known = (name: string): string =>
    name === "page_token"
      ? (knowledge.tokenOf(draft.operation)?.token ?? "none")
      : String(knowledge.value(name, thing, at) ?? "none");
  return {
    thing,
    request: {
      ...draft,
      path: path.replaceAll(placeholder, (_, name: string) => encodeURIComponent(known(name))),
      ...(body === undefined
        ? {}
        : { body: body.replaceAll(placeholder, (_, name: string) => JSON.stringify(known(name)).slice(1, -1)) }),
    },
  };
}
