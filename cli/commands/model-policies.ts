import type { Command } from "commander";
import type { PolicyRequest } from "../../client/generated/schemas";
import { contextOf } from "../context";
import { printJson } from "../output";
import { readJson } from "./model-changes";

export function addModelPolicyCommands(models: Command): void {
  const policy = models.command("policy").description("the gates and approvals that a model declares");

  policy
    .command("get <model>")
    .description("the policy in force, as JSON")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const answer = await client.call("getModelPolicy", { params: { name } });
      if (json) printJson(answer);
      else if (answer.policy) process.stdout.write(`${JSON.stringify(answer.policy, null, 2)}\n`);
      else process.stdout.write(`${name} declares none: one person's word, and each job's own gates\n`);
    });

  policy
    .command("set <model> <file>")
    .description("declare them: a JSON file with rules and approvals, as `get` shows them")
    .option("--reason <text>", "why", "")
    .action(async (name: string, file: string, { reason }: { reason: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const { rules, approvals } = readJson(file) as PolicyRequest;
      const { model } = await client.call("setModelPolicy", { params: { name }, body: { rules, approvals, reason } });
      if (json) printJson(model);
      else process.stdout.write(`${name} has the policy of revision ${model.policy?.revision}\n`);
    });
}
