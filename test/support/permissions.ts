import fs from "node:fs";
import path from "node:path";
import { type FunctionPermissions, functionPermissionsFile } from "../../platform/permissions";
import { ensureBuild } from "../../scripts/build";

/** The file of the build that says what each function may do. */
export const permissionsFile = path.join(ensureBuild(), functionPermissionsFile);

export const functionPermissions = JSON.parse(fs.readFileSync(permissionsFile, "utf8")) as FunctionPermissions;
