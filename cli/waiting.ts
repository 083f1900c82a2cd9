import type { ApiClient, RunDetails } from "../client/api-client";
import type { ModelPolicy, ModelVersion } from "../client/generated/schemas";
import type { RegistrationOutput } from "../core/pipelines/outputs";
import { findOutput } from "../core/pipelines/step";

/** What a run waits for, and the command by which somebody gives it. */
export interface Awaited {
  readonly kind: "check" | "approval" | "test";
  /** Of a check. */
  readonly name?: string;
  /** A sentence's end: "waits for …". */
  readonly what: string;
  readonly command: string;
}

/** @returns nothing where the run waits for nobody: it is somewhere else, or about to find what it waits for */
export async function awaitedBy(client: ApiClient, details: RunDetails): Promise<readonly Awaited[]> {
  const registration = findOutput<RegistrationOutput>(details, "Register");
  if (details.run.phase !== "AwaitApproval" || !registration) return [];
  const { model: name, version: number } = registration;
  const version = await client.modelVersion(name, number);
  if (version.awaitedBy !== details.run.runId || version.stage === "production") return [];
  const underTest = version.stage === "canary" && (await isUnderTest(client, name, number));
  // Decided, and nothing in the way: the run goes on by itself.
  if (version.approval !== undefined && !underTest) return [];
  const { policy } = await client.call("getModelPolicy", { params: { name } });
  return awaitedOf(version, policy, underTest);
}

/** Whether a canary's test is to say what becomes of it. */
export async function isUnderTest(client: ApiClient, name: string, version: number): Promise<boolean> {
  const { traffic } = await client.call("getTraffic", { params: { name } });
  return traffic.test !== undefined && traffic.canaries.some((arm) => arm.version === version);
}

/** In the order in which they have to be given. */
export function awaitedOf(
  { model, version, gate, approval, approvals, approvalsWithdrawn }: ModelVersion,
  policy: ModelPolicy | undefined,
  underTest: boolean,
): readonly Awaited[] {
  const of = `${quoted(model)} ${version}`;
  const checks = (gate?.checks ?? [])
    .filter(({ pending }) => pending)
    .map(({ metric: name, external }): Awaited => {
      if (external?.kind === "http") {
        const command = `ringmaster models judge ${of}`;
        return { kind: "check", name, what: `the answer of the check ${name}, whose hook is asked again by`, command };
      }
      const declared = policy?.rules.checks.find((check) => check.name === name);
      const words = declared?.kind === "command" ? declared.command.map(quoted).join(" ") : "COMMAND";
      const command = `ringmaster models check ${of} --name ${name} -- ${words}`;
      return { kind: "check", name, what: `the check ${name}, which somebody has to run`, command };
    });
  const { required = 1, approvers = [], notTheSubmitter = false } = policy?.approvals ?? {};
  const remarks = [
    ...(required > 1 ? [`${required} people's word, ${approvals.length} given`] : []),
    ...(approvers.length > 0 ? [`of ${approvers.join(", ")}`] : []),
    ...(notTheSubmitter ? ["not the submitter's"] : []),
    ...(approvalsWithdrawn ? ["those from before it was taken back count no more"] : []),
  ];
  const word = `${checks.length > 0 ? "then " : ""}${required > 1 ? "approvals" : "an approval"}`;
  const approving: readonly Awaited[] =
    approval === undefined
      ? [
          {
            kind: "approval",
            what: `${word}${remarks.length > 0 ? ` (${remarks.join(", ")})` : ""}`,
            command: `ringmaster models approve ${of}`,
          },
        ]
      : [];
  const test: readonly Awaited[] = underTest
    ? [
        {
          kind: "test",
          what: "the test that it is under as a canary, which is carried out by",
          command: `ringmaster models traffic decide ${quoted(model)}`,
        },
      ]
    : [];
  return [...checks, ...approving, ...test];
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
