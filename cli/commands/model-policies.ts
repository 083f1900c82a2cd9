import { readFileSync } from "node:fs";
import { basename } from "node:path";
import * as z from "zod";
import { declaredPolicy } from "../../api/schemas/models";
import { InvalidInputError } from "../../core/errors";
import { parseYamlInput } from "../../core/yaml-input";
import type { Command } from "../command";
import { contextOf } from "../context";
import { printJson } from "../output";

const ignored = z.unknown().optional();

/** Accepts the output of `get`. A misspelt member is refused, because its gate would have no effect. */
const policyFile = declaredPolicy.safeExtend({
  revision: ignored,
  rulesRevision: ignored,
  by: ignored,
  at: ignored,
});

export function addModelPolicyCommands(models: Command): void {
  const policy = models.command("policy").description("show and set the gates and approvals of a model");

  policy
    .command("get <model>")
    .alias("show")
    .description("print the current policy as JSON")
    .handle(async ({ client, json }, name: string) => {
      const answer = await client.call("getModelPolicy", { params: { name } });
      if (json) printJson(answer);
      else if (answer.policy) process.stdout.write(`${JSON.stringify(answer.policy, null, 2)}\n`);
      else
        process.stdout.write(
          `${name} has no policy. Defaults: one approval, no significant regression against the champion, and the gates of each job\n`,
        );
    });

  policy
    .command("set <model> <file>")
    .description("set the policy from a YAML or JSON file with rules and approvals (docs/gates.md)")
    .option("--reason <text>", "reason to record", "")
    .action(async (name: string, file: string, { reason }: { reason: string }, command: Command) => {
      const { rules, approvals } = readPolicy(file);
      const { client, json } = contextOf(command);
      const body = { rules, approvals, reason };
      const { model, warnings = [] } = await client.call("setModelPolicy", { params: { name }, body });
      for (const { message } of warnings) process.stderr.write(`warning: ${message}\n`);
      if (json) printJson(model);
      else if (model.policyProposal) process.stdout.write(`policy of ${name} proposed (revision ${model.revision})\n`);
      else process.stdout.write(`policy of ${name} set (revision ${model.policy?.revision})\n`);
    });
}

function readPolicy(file: string): z.output<typeof policyFile> {
  return parseYamlInput(basename(file), textOf(file), policyFile).value;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a YAML or JSON file that can be read";
    throw new InvalidInputError("the file cannot be read", [{ path: "file", value: file, rule }], cause);
  }
}
