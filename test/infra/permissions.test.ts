import { type FunctionName, functions } from "../../platform/functions";
import { functionPermissions, jobPermissions, type Permission, runRolePermissions } from "../../platform/permissions";
import { derive } from "./reach/derive";
import { repository } from "./synthesized";

/** `action resource`, sorted: the form in which what is granted and what is needed are compared. Keys of objects are not derived. */
const flat = (permissions: readonly Permission[]): readonly string[] =>
  permissions
    .map(({ resource, actions }) => ({ resource: resource === "training-objects" ? "objects" : resource, actions }))
    .flatMap(({ resource, actions }) => actions.map((action) => `${action} ${resource}`))
    .sort();

const missing = (from: readonly string[], what: readonly string[]) => what.filter((one) => !from.includes(one));

const handlerOf = (name: FunctionName) => `lambdas/${name}/handler.ts`;
/** The trainer, and the threads that it starts. */
const trainer = [
  "trainer-container/main.ts",
  "trainer-container/checkpoint/upload-worker.ts",
  "trainer-container/data/prefetch-worker.ts",
  "trainer-container/telemetry/outbox-worker.ts",
];

let needed: Readonly<Record<string, readonly string[]>>;
beforeAll(() => {
  needed = derive(repository, [...functions.map(({ name }) => handlerOf(name)), ...trainer]);
});

describe("what code that can be reached sends to AWS", () => {
  it.each(functions.map(({ name }) => [name] as const))("%s: is granted, and nothing else is", (name) => {
    const granted = flat(functionPermissions[name]);
    expect({
      notGranted: missing(granted, needed[handlerOf(name)]!),
      notUsed: missing(needed[handlerOf(name)]!, granted),
    }).toEqual({
      notGranted: [],
      notUsed: [],
    });
    expect(new Set(granted).size).toBe(granted.length);
  });

  it("the trainer: is granted to its job or to its run, and nothing else is", () => {
    const granted = flat([...jobPermissions, ...runRolePermissions]);
    const wanted = trainer.flatMap((entry) => needed[entry]!);
    expect({ notGranted: missing(granted, wanted), notUsed: missing(wanted, granted) }).toEqual({
      notGranted: [],
      notUsed: [],
    });
  });
});
