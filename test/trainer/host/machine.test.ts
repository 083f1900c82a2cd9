import { readMachine } from "../../../trainer-container/host/machine";
import type { Fetch } from "../../../trainer-container/host/spot-watcher";

/** An instance metadata service that answers what it has, to who shows its token. */
function metadata(items: Readonly<Record<string, string>>): Fetch {
  return async (url, { method, headers = {} }) => {
    const answer = (status: number, body = "") => ({ status, text: async () => body });
    const path = url.replace("http://imds/latest/", "");
    if (path === "api/token") return method === "PUT" ? answer(200, "secret") : answer(405);
    if (headers["x-aws-ec2-metadata-token"] !== "secret") return answer(401);
    const body = items[path.replace("meta-data/", "")];
    return body === undefined ? answer(404) : answer(200, body);
  };
}

describe("what a trainer runs on", () => {
  it("is what the metadata service says", async () => {
    const items = {
      "instance-type": "g5.xlarge",
      "placement/availability-zone": "eu-central-1a",
      "instance-id": "i-1",
    };
    expect(await readMachine("http://imds", metadata(items), "job:0/1")).toEqual({
      memberId: "job:0/1",
      instanceType: "g5.xlarge",
      availabilityZone: "eu-central-1a",
      instanceId: "i-1",
    });
    expect(await readMachine("http://imds", metadata({ "instance-type": "c6i.large" }), "m")).toEqual({
      memberId: "m",
      instanceType: "c6i.large",
    });
  });

  it.each<[string, Fetch]>([
    ["does not say", metadata({})],
    ["is not there", () => Promise.reject(new Error("ECONNREFUSED"))],
    ["gives no token", async () => ({ status: 403, text: async () => "" })],
  ])("is not known where the service %s", async (_name, fetch) => {
    expect(await readMachine("http://imds", fetch, "m")).toBeUndefined();
  });
});
