import fs from "node:fs";
import path from "node:path";
import { functions } from "../../platform/functions";
import { jobPermissions, type Permission, runRolePermissions } from "../../platform/permissions";
import { functionPermissions } from "../support/permissions";

/** `Catalog` GetItem, Query; `objects` … */
function rightsOf(permissions: readonly Permission[]): string {
  const actions = new Map<string, string[]>();
  for (const { resource, actions: more } of permissions) {
    const names = more.map((action) => (resource === "*" ? action : action.split(":")[1]!));
    actions.set(resource, [...(actions.get(resource) ?? []), ...names]);
  }
  return [...actions]
    .map(([resource, names]) => `\`${resource.replace("table/", "")}\`: ${names.join(", ")}`)
    .join("; ");
}

it("docs/security.md says who may do what, as it is", () => {
  const rows = [
    ...functions.map(({ name }) => [`\`${name}\``, functionPermissions[name]] as const),
    ["a trainer's job", jobPermissions] as const,
    ["the run role (narrowed to one run by each session)", runRolePermissions] as const,
  ];
  const table = ["| who | may |", "|---|---|", ...rows.map(([who, may]) => `| ${who} | ${rightsOf(may)} |`)].join("\n");
  const file = path.join(__dirname, "../../docs/security.md");
  const text = fs.readFileSync(file, "utf8");
  const pattern = /(?<=<!-- rights -->\n)[\s\S]*?(?=\n?<!-- \/rights -->)/;
  // UPDATE_DOCS=1 writes it again.
  if (process.env["UPDATE_DOCS"])
    fs.writeFileSync(
      file,
      text.replace(pattern, () => table),
    );
  else expect(pattern.exec(text)?.[0]).toBe(table);
});
