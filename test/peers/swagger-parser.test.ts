import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { allOperations } from "../../api/operations";
import { apiStack } from "../infra/api-stack";
import { configurations } from "../infra/configurations";
import { resources } from "../infra/synthesized";
import { temporaryFolder } from "../support/temporary-folder";

/** A folder with the archives of `io.swagger.parser.v3:swagger-parser` and its dependencies. */
const archives = process.env["RINGMASTER_PEERS_SWAGGER_PARSER"] ?? "";
const found = existsSync(archives) && readdirSync(archives).some((name) => name.startsWith("swagger-parser-v3-"));
const source = path.join(__dirname, "swagger-parser.java");

/** Accepted: API Gateway names a greedy parameter without its plus sign, as the examples of its documentation do. */
const greedy =
  "message: paths.'/{proxy+}'. Declared path parameter proxy+ needs to be defined as a path parameter in path or operation level";

const title = found
  ? "swagger-parser"
  : "swagger-parser (skipped: RINGMASTER_PEERS_SWAGGER_PARSER names no folder with its archives)";
(found ? describe : describe.skip)(title, () => {
  const directory = temporaryFolder("swagger-parser");

  it.each(Object.keys(configurations))("reads the gateway's document without a message: %s", (name) => {
    const { stack, template } = apiStack(configurations[name] ?? {});
    const body = resources(template, "AWS::ApiGateway::RestApi")[0]!.Properties["Body"] as {
      readonly components: { readonly schemas: object };
    };
    const file = path.join(directory, `${stack.stackName}.json`);
    writeFileSync(file, JSON.stringify(body));
    const args = ["-cp", path.join(archives, "*"), source, file];
    const { stdout, stderr } = spawnSync("java", args, { encoding: "utf8" });
    expect([
      stdout
        .trim()
        .split("\n")
        .filter((line) => line !== greedy),
      stderr.replace(/^SLF4J.*\n/gm, ""),
    ]).toEqual([
      [`operations: ${allOperations.length}`, `schemas: ${Object.keys(body.components.schemas).length}`],
      "",
    ]);
  });
});
