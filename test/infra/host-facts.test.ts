import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostFactsCommands, hostFactsScript } from "../../infra/constructs/host-facts";
import { readMachine, type SpotNotice, watchSpot } from "../../trainer-container/host/host-files";
import { MetadataService } from "../support/metadata-service";
import { temporaryFolder } from "../support/temporary-folder";

const machine = { "instance-id": "i-0abc", "instance-type": "c6i.large", "placement/availability-zone": "eu-west-1b" };
const noticeAt = (time: string) => ({
  ...machine,
  "spot/instance-action": JSON.stringify({ action: "terminate", time }),
});

const folder = temporaryFolder("host-facts");

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((tick) => setTimeout(tick, 5));
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
(hasCurl ? describe : describe.skip)("the unit that describes an instance to its containers", () => {
  const program = join(folder, "host-facts.sh");
  writeFileSync(program, hostFactsScript);
  let service: MetadataService;
  let directory: string;
  const units: ChildProcess[] = [];

  beforeEach(async () => {
    directory = join(mkdtempSync(join(folder, "run-")), "ringmaster");
    service = new MetadataService();
    service.items = machine;
    await service.start();
  });
  afterEach(async () => {
    await Promise.all(units.splice(0).map(kill));
    await service.stop();
  });

  function startUnit(): ChildProcess {
    const args = [program, directory, "0.02", service.endpoint];
    const unit = spawn("bash", args, { detached: true, stdio: "inherit", env: { PATH: process.env["PATH"] } });
    units.push(unit);
    return unit;
  }
  /** Kills the unit as systemd does: with the processes that it has started. */
  async function kill(unit: ChildProcess): Promise<void> {
    if (unit.exitCode !== null || unit.signalCode !== null) return;
    const ended = new Promise((resolve) => unit.once("exit", resolve));
    process.kill(-unit.pid!, "SIGKILL");
    await ended;
  }
  const has = (file: string) => existsSync(join(directory, file));
  const timeOf = () => (JSON.parse(readFileSync(join(directory, "spot-notice.json"), "utf8")) as SpotNotice).time;

  it("writes what the trainer reads: the machine, and the notice once there is one", async () => {
    startUnit();
    await until(() => has("machine.json"));
    expect(await readMachine(directory, "job/1")).toEqual({
      memberId: "job/1",
      instanceId: "i-0abc",
      instanceType: "c6i.large",
      availabilityZone: "eu-west-1b",
    });
    expect(has("spot-notice.json")).toBe(false);
    const notice = new Promise<SpotNotice>((onNotice) => watchSpot({ directory, intervalMs: 5, onNotice }));
    service.items = noticeAt("2026-01-01T00:02:00Z");
    expect(await notice).toEqual({ action: "terminate", time: "2026-01-01T00:02:00Z" });
  });

  it("shows a reader whole files only", async () => {
    startUnit();
    for (let minute = 10; minute < 18; minute += 1) {
      service.items = noticeAt(`2026-01-01T00:${minute}:00Z`);
      await until(() => has("spot-notice.json") && timeOf() === `2026-01-01T00:${minute}:00Z`);
    }
  });

  it("goes on after a metadata service that restarts, forgets its tokens, lets them expire, or hangs", async () => {
    service.tokenMs = -1;
    startUnit();
    await new Promise((wait) => setTimeout(wait, 100));
    expect(has("machine.json")).toBe(false);
    service.tokenMs = 60_000;
    await until(() => has("machine.json"));
    await service.stop();
    service.items = noticeAt("2026-01-01T00:02:00Z");
    await new Promise((wait) => setTimeout(wait, 100));
    expect(has("spot-notice.json")).toBe(false);
    service.hangs = true;
    await service.start();
    await new Promise((wait) => setTimeout(wait, 100));
    service.hangs = false;
    await until(() => has("spot-notice.json"));
  });

  it("keeps its files when it is killed, and goes on when systemd starts it again", async () => {
    await kill(await startedUnit());
    writeFileSync(join(directory, ".spot-notice.json"), '{"action":"termi'); // killed before the rename
    service.items = noticeAt("2026-01-01T00:02:00Z");
    expect(has("machine.json")).toBe(true);
    await kill(await startedUnit(() => has("spot-notice.json")));
    expect(timeOf()).toBe("2026-01-01T00:02:00Z");
  });
  async function startedUnit(holds = () => has("machine.json")): Promise<ChildProcess> {
    const unit = startUnit();
    await until(holds);
    return unit;
  }
});

describe("the user data", () => {
  function runUserData(): string {
    const root = mkdtempSync(join(folder, "root-"));
    const stubs = {
      systemctl: `echo "systemctl $*" >> ${root}/calls`,
      iptables: `
        echo "iptables $*" >> ${root}/calls
        [ -e ${root}/broken ] && exit 3
        touch ${root}/rules
        case "$2" in --check) grep --quiet --line-regexp -- "\${*:3}" ${root}/rules ;; --insert) echo "\${*:3}" >> ${root}/rules ;; esac`,
    };
    spawnSync("mkdir", ["-p", join(root, "bin"), join(root, "etc", "ecs")]);
    for (const [name, body] of Object.entries(stubs)) {
      writeFileSync(join(root, "bin", name), `#!/bin/bash\n${body}\n`);
      chmodSync(join(root, "bin", name), 0o755);
    }
    const commands = hostFactsCommands()
      .join("\n")
      .replaceAll("/opt/", `${root}/opt/`)
      .replaceAll("/etc/", `${root}/etc/`);
    const { status, stderr } = run(root, ["-e", "-c", commands]);
    expect(`${status} ${stderr}`).toBe("0 ");
    return root;
  }
  const run = (root: string, args: readonly string[]) =>
    spawnSync("bash", ["--norc", ...args], { env: { PATH: `${root}/bin:${process.env["PATH"]}` }, encoding: "utf8" });
  const read = (root: string, file: string) => readFileSync(join(root, file), "utf8");

  it("starts the unit now and at every boot, and again whenever it ends", () => {
    const root = runUserData();
    expect(read(root, "calls").split("\n").slice(0, 2)).toEqual([
      "systemctl daemon-reload",
      "systemctl enable --now ringmaster-host-facts",
    ]);
    const unit = read(root, "etc/systemd/system/ringmaster-host-facts.service");
    expect(unit).toContain("Restart=always");
    expect(unit).toContain("StartLimitIntervalSec=0");
    const [, command = ""] = /^ExecStart=\/bin\/bash (.*)$/m.exec(unit) ?? [];
    expect(command.replace(root, "")).toBe("/opt/ringmaster/host-facts.sh /run/ringmaster 5 http://169.254.169.254");
    expect(read(root, "opt/ringmaster/host-facts.sh")).toBe(`${hostFactsScript}\n`);
  });

  it("refuses the metadata service to all users but root before each start of the ECS agent, once", () => {
    const root = runUserData();
    const dropIn = read(root, "etc/systemd/system/ecs.service.d/ringmaster.conf");
    const [, block = ""] = /^ExecStartPre=\/bin\/bash (.*)$/m.exec(dropIn) ?? [];
    for (let start = 0; start < 2; start += 1) expect(run(root, [block]).status).toBe(0);
    expect(read(root, "rules")).toBe(
      "OUTPUT --destination 169.254.169.254 --match owner --uid-owner 1-4294967294 --jump REJECT\n",
    );
    expect(read(root, "etc/ecs/ecs.config")).toBe("ECS_AWSVPC_BLOCK_IMDS=true\n");
  });

  it("does not let the agent start without the rule, and not end its attempts either", () => {
    const root = runUserData();
    writeFileSync(join(root, "broken"), "");
    const { status } = run(root, [join(root, "opt/ringmaster/block-metadata.sh")]);
    expect(status).not.toBe(0);
    expect(status).not.toBe(5); // The agent's unit restarts after every failure but this one.
  });

  const canFilter = spawnSync("unshare", ["--net", "iptables", "--list", "OUTPUT"]).status === 0;
  (canFilter ? it : it.skip)("blocks in the kernel (skipped without iptables and network namespaces)", () => {
    const root = runUserData();
    const server = join(root, "server.js");
    writeFileSync(
      server,
      `require("http").createServer((_, answer) => answer.end()).listen(80, () => console.log("up"));`,
    );
    const script = `
      ip link set lo up && ip address add 169.254.169.254/32 dev lo && ip address add 169.254.170.2/32 dev lo
      bash --norc ${root}/opt/ringmaster/block-metadata.sh
      coproc server { exec '${process.execPath}' ${server}; }
      read -r up <&"\${server[0]}"
      for user in 0 10001; do
        for address in 169.254.169.254 169.254.170.2; do
          setpriv --reuid=$user --regid=$user --clear-groups curl --silent --max-time 5 http://$address/
          echo "$user $address $?"
        done
      done
      kill $server_PID`;
    const { stdout } = spawnSync("unshare", ["--net", "bash", "--norc", "-c", script], { encoding: "utf8" });
    // curl ends with 7 where no connection can be made.
    expect(stdout.trim().split("\n")).toEqual([
      "0 169.254.169.254 0",
      "0 169.254.170.2 0",
      "10001 169.254.169.254 7",
      "10001 169.254.170.2 0",
    ]);
  });
});
