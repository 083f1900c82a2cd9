import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Access, type Caller, patternOf } from "../local";
import { arnsOf, type Permission, type World } from "../platform/permissions";

export interface RecordedAccess {
  readonly role: string;
  readonly action: string;
  /** The resource of the permission; the requested ARN where no permission covers it. */
  readonly resource: string;
  readonly granted: boolean;
}

/**
 * Records which permissions callers use, one JSON line for each role and permission. Each process writes its own file in the
 * folder, so that several stacks may share it; `roles.json` has the permissions of all roles. `scripts/check-grants.js` compares
 * the two.
 */
export function createAccessRecorder(
  folder: string,
  permissionsOf: ReadonlyMap<string, readonly Permission[]>,
  world: World,
): (access: Access, caller: Caller) => void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "roles.json"), JSON.stringify(Object.fromEntries(permissionsOf)));
  const file = join(folder, `${process.pid}-${Date.now()}.jsonl`);
  const seen = new Set<string>();
  const permissions = new Map(
    [...permissionsOf].map(([role, list]) => [
      role,
      list.map(({ resource, actions }) => ({
        resource,
        actions: new Set(actions),
        patterns: arnsOf(resource, world).map((arn) => patternOf(arn)),
      })),
    ]),
  );
  return ({ action, resource: arn }, { role: { name: role } }) => {
    const used = (permissions.get(role) ?? []).filter(
      ({ actions, patterns }) => actions.has(action) && patterns.some((pattern) => pattern.test(arn)),
    );
    const resources = used.length > 0 ? used.map(({ resource }) => resource) : [arn];
    for (const resource of resources) {
      const line = JSON.stringify({ role, action, resource, granted: used.length > 0 } satisfies RecordedAccess);
      if (seen.has(line)) continue;
      seen.add(line);
      appendFileSync(file, `${line}\n`);
    }
  };
}
