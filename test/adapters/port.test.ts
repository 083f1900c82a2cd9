import { deploy, grantsOf, type Scope, sharedPort, teamPort } from "../../adapters/port";
import { catalog, objects } from "../../platform/permissions/grants";

const scope = {} as Scope;

let made: string[];
beforeEach(() => {
  made = [];
});

const client = sharedPort({
  make() {
    made.push("client");
    return { name: "client" };
  },
});
const marks = sharedPort({ grants: { write: [catalog("PutItem")] }, make: () => "marks" });
const rows = teamPort({
  uses: { client: client(), marks: marks("write") },
  grants: { read: [catalog("GetItem", "Query")], write: [catalog("UpdateItem")], files: [objects("GetObject")] },
  make({ client, marks }, { team }) {
    made.push(`rows of ${team}`);
    return `${client.name}, ${marks}, ${team}`;
  },
});

describe("the grants of a port", () => {
  it("are those of the groups that are named, and of the ports that it uses", () => {
    const catalogOnly = (...actions: readonly string[]) => [
      { resource: "table/Catalog", actions: actions.map((action) => `dynamodb:${action}`) },
    ];
    expect(rows().grants).toEqual(catalogOnly("PutItem"));
    expect(rows("read").grants).toEqual(catalogOnly("GetItem", "PutItem", "Query"));
    expect(rows("read", "write").grants).toEqual(catalogOnly("GetItem", "PutItem", "Query", "UpdateItem"));
  });

  it("of several ports have each resource and each action once", () => {
    expect(grantsOf([rows("files"), marks("write"), rows("files")])).toEqual([
      { resource: "table/Catalog", actions: ["dynamodb:PutItem"] },
      { resource: "objects", actions: ["s3:GetObject"] },
    ]);
  });
});

describe("a deployment", () => {
  const ports = { shared: { client: client() }, team: { reads: rows("read"), writes: rows("write") } };

  it("makes a shared port once, and a team's port once for each team, whatever groups are named", () => {
    const { forTeam } = deploy(scope, ports);
    expect(forTeam("red").reads).toBe("client, marks, red");
    expect(forTeam("red").writes).toBe("client, marks, red");
    expect(forTeam("blue").reads).toBe("client, marks, blue");
    expect(made).toEqual(["client", "rows of red", "rows of blue"]);
  });

  it("refuses a team's name that could be part of another key", () => {
    expect(() => deploy(scope, ports).forTeam("red/blue")).toThrow("team");
  });

  it("uses a replacement wherever the port is used", () => {
    const { forTeam, client: replaced } = deploy(scope, ports, [[client(), () => ({ name: "another" })]]);
    expect([replaced.name, forTeam("red").reads]).toEqual(["another", "another, marks, red"]);
  });
});
