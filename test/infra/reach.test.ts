import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { derive } from "./reach/derive";
import { repository } from "./synthesized";

/** Ports with the forms of this repository's. */
const ports = `
import { DeleteObjectCommand, GetObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { SendTaskFailureCommand, SendTaskSuccessCommand, type SFNClient } from "@aws-sdk/client-sfn";
export interface Store { read(): Promise<unknown>; remove(): Promise<void> }
export function createStore(client: S3Client): Store {
  async function remove() { await client.send(new DeleteObjectCommand({ Bucket: "b", Key: "k" })); }
  return { read: () => client.send(new GetObjectCommand({ Bucket: "b", Key: "k" })), remove };
}
export interface Answers { yes(): Promise<unknown>; no(): Promise<unknown> }
export class Tokens implements Answers {
  constructor(private readonly client: SFNClient) {}
  yes() { return this.client.send(new SendTaskSuccessCommand({ taskToken: "t", output: "{}" })); }
  no() { return this.#refuse(); }
  #refuse() { return this.client.send(new SendTaskFailureCommand({ taskToken: "t" })); }
}
export interface Platform { readonly store: Store; readonly answers: Answers }
`;

const preamble = `
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { type Answers, createStore, type Platform, type Store, Tokens } from "./ports";
const platform: Platform = { store: createStore(new S3Client({})), answers: new Tokens(new SFNClient({})) };
`;

const read = ["s3:GetObject objects", "s3:ListBucket bucket"];
const remove = ["s3:DeleteObject objects"];
const yes = ["states:SendTaskSuccess state-machine"];
const no = ["states:SendTaskFailure state-machine"];

const cases: readonly (readonly [what: string, code: string, needs: readonly string[]])[] = [
  ["ports that are made and not used need nothing", "export const handler = () => platform;", []],
  ["a method that is called", "export const handler = () => platform.store.read();", read],
  ["a local function behind a shorthand", "export const handler = () => platform.store.remove();", remove],
  [
    "a method that is taken apart",
    "export const handler = () => { const { store: { remove } } = platform; return remove(); };",
    remove,
  ],
  [
    "a method that is taken apart in a parameter",
    "const go = ({ read }: Store) => read(); export const handler = () => go(platform.store);",
    read,
  ],
  ["a method that is handed on", "export const handler = () => [1].map(platform.store.remove);", remove],
  [
    "a method by a name that is computed",
    "export const handler = (name: keyof Store) => platform.store[name]();",
    [...remove, ...read],
  ],
  ["a method by a name in quotes", `export const handler = () => platform.store["read"]();`, read],
  [
    "a narrower type of its own",
    "interface Removes { remove(): Promise<void> } const go = (it: Removes) => it.remove(); export const handler = () => go(platform.store);",
    remove,
  ],
  [
    "a part of the type",
    `const go = (it: Pick<Store, "read">) => it.read(); export const handler = () => go(platform.store);`,
    read,
  ],
  [
    "a copy with something more",
    "export const handler = () => { const more = { ...platform, at: 1 }; return more.store.read(); };",
    read,
  ],
  [
    "a wrapper of the same type",
    "const wrap = (it: Store): Store => ({ read: () => it.read(), remove: async () => undefined }); export const handler = () => wrap(platform.store).read();",
    read,
  ],
  [
    "a class by its interface",
    "const go = (it: Answers) => it.yes(); export const handler = () => go(platform.answers);",
    yes,
  ],
  ["a private method of a class", "export const handler = () => platform.answers.no();", no],
  ["a value whose type is lost", "export const handler = () => (platform.store as any).remove();", remove],
  [
    "a type parameter",
    "const go = <T extends Store>(it: T) => it.read(); export const handler = () => go(platform.store);",
    read,
  ],
  [
    "a method of its own class of the same name",
    "class Reader { all() { return this.remove(); } remove() { return 1; } } export const handler = () => [new Reader().all(), platform.store.read()];",
    read,
  ],
  [
    "a method of a class that extends its own",
    "abstract class Base { all() { return this.go(); } abstract go(): unknown } class Own extends Base { go() { return platform.store.read(); } } export const handler = () => { const it: Base = new Own(); return it.all(); };",
    read,
  ],
  [
    "a table of commands that distinguishes requests",
    `import { ListObjectsV2Command } from "@aws-sdk/client-s3"; const known = new Map<unknown, string>([[ListObjectsV2Command, "list"]]); export const handler = () => known.get(1) ?? platform.store.remove();`,
    remove,
  ],
  [
    "a callback that other code calls",
    "export const handler = () => setTimeout(() => platform.store.remove(), 1);",
    remove,
  ],
  [
    "a table of functions",
    "const send = () => platform.store.read(); const table: Record<string, () => Promise<unknown>> = { send }; export const handler = (name: string) => table[name]?.();",
    read,
  ],
  ["an exported function of the module", "export async function handler() { await platform.store.read(); }", read],
  ["a type alone", "export type Made = ReturnType<typeof createStore>; export const handler = () => 1;", []],
  [
    "code of the module that is run when it is loaded",
    "void platform.answers.yes(); export const handler = () => 1;",
    yes,
  ],
];

describe("the code that a handler reaches", () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "reach-"));
  let needs: Readonly<Record<string, readonly string[]>>;
  const fileOf = (index: number) => `handler-${index}.ts`;

  beforeAll(() => {
    fs.symlinkSync(path.join(repository, "node_modules"), path.join(root, "node_modules"));
    const { compilerOptions } = JSON.parse(fs.readFileSync(path.join(repository, "tsconfig.json"), "utf8"));
    fs.writeFileSync(
      path.join(root, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...compilerOptions, types: ["node"] }, include: ["*.ts"] }),
    );
    fs.writeFileSync(path.join(root, "ports.ts"), ports);
    for (const [index, [, code]] of cases.entries()) fs.writeFileSync(path.join(root, fileOf(index)), preamble + code);
    fs.writeFileSync(
      path.join(root, "unknown.ts"),
      `import { RestoreObjectCommand } from "@aws-sdk/client-s3"; export const handler = () => new RestoreObjectCommand({ Bucket: "b", Key: "k" });`,
    );
    needs = derive(
      root,
      cases.map((_, index) => fileOf(index)),
    );
  });
  afterAll(() => fs.rmSync(root, { recursive: true }));

  it.each(cases.map(([what, , expected], index) => [what, index, expected] as const))(
    "%s",
    (_what, index, expected) => {
      expect(needs[fileOf(index)]).toEqual(expected);
    },
  );

  it("refuses a command that it does not know", () => {
    expect(() => derive(root, ["unknown.ts"])).toThrow("sends RestoreObjectCommand");
  });
});
