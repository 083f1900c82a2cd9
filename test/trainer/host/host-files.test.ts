import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMachine, type SpotNotice, watchSpot } from "../../../trainer-container/host/host-files";

const notice = { action: "terminate", time: "2026-01-01T00:02:00Z" };
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "host-files-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const publish = (file: string, content: string) => {
  writeFileSync(join(directory, "new"), content);
  renameSync(join(directory, "new"), join(directory, file));
};

describe("readMachine", () => {
  it("adds the worker to the host's description", async () => {
    publish("machine.json", '{"instanceId":"i-0abc","instanceType":"g5.xlarge","availabilityZone":"eu-west-1b"}');
    expect(await readMachine(directory, "job:0/1")).toEqual({
      memberId: "job:0/1",
      instanceId: "i-0abc",
      instanceType: "g5.xlarge",
      availabilityZone: "eu-west-1b",
    });
  });

  it("knows no machine where the host has not described itself", async () => {
    expect(await readMachine(directory, "m")).toBeUndefined();
    expect(await readMachine(join(directory, "absent"), "m")).toBeUndefined();
    publish("machine.json", "");
    expect(await readMachine(directory, "m")).toBeUndefined();
  });
});

describe("watchSpot", () => {
  it("reports a notice once, when it appears", async () => {
    const notices: SpotNotice[] = [];
    const { looked, stop } = watchSpot({ directory, intervalMs: 1, onNotice: (one) => notices.push(one) });
    await looked;
    expect(notices).toEqual([]);
    publish("spot-notice.json", JSON.stringify(notice));
    while (notices.length === 0) await new Promise((tick) => setTimeout(tick, 1));
    publish("spot-notice.json", JSON.stringify({ ...notice, time: "2026-01-01T00:03:00Z" }));
    await new Promise((tick) => setTimeout(tick, 10));
    expect(notices).toEqual([notice]);
    stop();
  });

  it("reports at its first look a notice that was there before", async () => {
    publish("spot-notice.json", JSON.stringify(notice));
    const notices: SpotNotice[] = [];
    await watchSpot({ directory, intervalMs: 60_000, onNotice: (one) => notices.push(one) }).looked;
    expect(notices).toEqual([notice]);
  });

  it("reports nothing once it is stopped", async () => {
    const notices: SpotNotice[] = [];
    const { looked, stop } = watchSpot({ directory, intervalMs: 1, onNotice: (one) => notices.push(one) });
    stop();
    publish("spot-notice.json", JSON.stringify(notice));
    await looked;
    await new Promise((tick) => setTimeout(tick, 10));
    expect(notices).toEqual([]);
  });
});
