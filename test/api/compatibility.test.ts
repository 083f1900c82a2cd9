import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { OpenApiDocument } from "../../api/openapi/model";
import { ensureBuild } from "../../scripts/build.js";
import { breakingChanges, parse, print, surfaceOf } from "./compatibility";

const file = path.join(__dirname, "released-api.txt");
const header =
  "# Routes and fields of the last release. test/api/compatibility.test.ts compares the contracts with it.\n" +
  "# After a deliberate breaking change: UPDATE_API=1 npx jest test/api/compatibility.test.ts\n";

const built = JSON.parse(readFileSync(path.join(ensureBuild(), "openapi.json"), "utf8")) as OpenApiDocument;

it("keeps every route and field of the last release", () => {
  const current = surfaceOf(built);
  if (process.env["UPDATE_API"] === "1") writeFileSync(file, header + print(current));
  const changes = breakingChanges(parse(readFileSync(file, "utf8")), current);
  const advice =
    "Clients of the last release break. Undo the change, or make it optional. If the break is deliberate, " +
    "name it in the release notes and run UPDATE_API=1 npx jest test/api/compatibility.test.ts";
  expect(changes.length === 0 ? [] : [...changes, advice]).toEqual([]);
});

it("reads what it prints", () => {
  const current = surfaceOf(built);
  expect(parse(print(current))).toEqual(current);
});

describe("breaking changes", () => {
  const released = `
GET /models/{name} (request, response)
  path name: string
  query limit?: integer
  200: ModelAnswer
ModelAnswer (response)
  name: string
  stage: "champion" | "none"
  note?: string
  aliases: (object)[]
  aliases[].name: string
ModelRequest (request)
  name: string
  tags?: map(string)
`;
  const changesAfter = (from: string, to: string) => {
    expect(released).toContain(from);
    return breakingChanges(parse(released), parse(released.replace(from, to)));
  };

  it.each([
    ["a removed route", "GET /models/{name}", "GET /model/{name}", "GET /models/{name} was removed"],
    ["a removed response field", "  note?: string\n", "", "ModelAnswer: note was removed"],
    ["a removed parameter", "  query limit?: integer\n", "", "GET /models/{name}: query limit was removed"],
    ["a changed type", "note?: string", "note?: integer", "ModelAnswer: note was string and is integer"],
    [
      "a changed element",
      "[].name: string",
      "[].name: integer",
      "ModelAnswer: aliases[].name was string and is integer",
    ],
    [
      "a removed value of an enumeration",
      '"champion" | "none"',
      '"champion"',
      'ModelAnswer: stage was "champion" | "none" and is "champion"',
    ],
    ["an optional request field made required", "tags?:", "tags:", "ModelRequest: tags was optional in requests"],
    [
      "a new required request field",
      "tags?: map(string)",
      "tags?: map(string)\n  team: string",
      "ModelRequest: team is new and required in requests",
    ],
    [
      "a new required parameter",
      "query limit?: integer",
      "query limit?: integer\n  query team: string",
      "GET /models/{name}: query team is new and required in requests",
    ],
    ["a response field made optional", "stage:", "stage?:", "ModelAnswer: stage was always in responses"],
  ])("include %s", (_what, from, to, change) => {
    expect(changesAfter(from, to)).toEqual([change]);
  });

  it.each([
    ["a new route", "GET /models/{name}", "GET /health (request, response)\nGET /models/{name}"],
    ["a new response field", "note?: string", "note?: string\n  size: integer"],
    ["a new optional request field", "tags?: map(string)", "tags?: map(string)\n  team?: string"],
    [
      "a new optional object with a required member",
      "tags?: map(string)",
      "tags?: map(string)\n  owner?: object\n  owner.name: string",
    ],
    ["a new value of an enumeration", '"none"', '"none" | "shadow"'],
  ])("exclude %s", (_what, from, to) => {
    expect(changesAfter(from, to)).toEqual([]);
  });
});
