import type { MachineRecord } from "../../core/runs/shapes";
import type { Fetch } from "./spot-watcher";

const answerMs = 1_000;

/**
 * Reads the machine of this process from the instance metadata service (IMDSv2: a session token first), to estimate costs.
 *
 * @returns undefined if there is no such service, or no answer
 */
export async function readMachine(
  endpoint: string,
  fetch: Fetch,
  memberId: string,
): Promise<MachineRecord | undefined> {
  const ask = (path: string, method: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${endpoint}/latest/${path}`, { method, headers, signal: AbortSignal.timeout(answerMs) });
  try {
    const token = await ask("api/token", "PUT", { "x-aws-ec2-metadata-token-ttl-seconds": "60" });
    if (token.status !== 200) return undefined;
    const headers = { "x-aws-ec2-metadata-token": await token.text() };
    const read = async (item: string): Promise<string | undefined> => {
      const answer = await ask(`meta-data/${item}`, "GET", headers);
      return answer.status === 200 ? answer.text() : undefined;
    };
    const instanceType = await read("instance-type");
    if (instanceType === undefined) return undefined;
    const availabilityZone = await read("placement/availability-zone");
    const instanceId = await read("instance-id");
    return {
      memberId,
      instanceType,
      ...(availabilityZone === undefined ? {} : { availabilityZone }),
      ...(instanceId === undefined ? {} : { instanceId }),
    };
  } catch {
    return undefined;
  }
}
