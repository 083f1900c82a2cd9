import { join } from "node:path";
import { parseOptions } from "../support/arguments";
import { LineProcess } from "../support/line-process";
import { median, slowest } from "../support/median";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import type { Measured, Task } from "./protocol";

const worldSize = 2;
const gigabit = 1_000_000_000 / 8;
const links: readonly (readonly [name: string, bytesPerSecond: number | undefined])[] = [
  ["1 Gbit/s", gigabit],
  ["5 Gbit/s", 5 * gigabit],
  ["loopback", undefined],
];
/** MiB of the gradient; milliseconds of the last leaf's backward pass. */
const shapes: readonly (readonly [mebibytes: number, backwardMs: number])[] = [
  [1, 20],
  [4, 50],
  [16, 100],
];
/** Rounds with and without overlap alternate. */
const rounds = 4;

interface Line {
  readonly link: string;
  readonly mebibytes: number;
  readonly backwardMs: number;
  readonly exposedMs: Readonly<Record<"after" | "overlapped", number>>;
  readonly stepMs: Readonly<Record<"after" | "overlapped", number>>;
}

interface Gang {
  readonly ranks: readonly LineProcess[];
  close(): void;
}

async function startGang(bytesPerSecond: number | undefined): Promise<Gang> {
  const script = (name: string) => join(__dirname, `overlap-${name}.js`);
  const ranks = Array.from({ length: worldSize }, () => new LineProcess(process.execPath, [script("rank")]));
  const started: LineProcess[] = [...ranks];
  const portOf = async (child: LineProcess) => (await child.receive<{ readonly port: number }>()).port;
  let ports = await Promise.all(ranks.map(portOf));
  if (bytesPerSecond !== undefined) {
    const slow = ports.map(
      (port) => new LineProcess(process.execPath, [script("slow-link"), String(port), String(bytesPerSecond)]),
    );
    started.push(...slow);
    ports = await Promise.all(slow.map(portOf));
  }
  for (const [rank, child] of ranks.entries()) child.send({ rank, ports });
  await Promise.all(ranks.map((rank) => rank.receive()));
  return {
    ranks,
    close: () => {
      for (const child of started) child.kill();
    },
  };
}

async function measure({ ranks }: Gang, task: Task): Promise<Measured> {
  for (const rank of ranks) rank.send(task);
  const replies = await Promise.all(ranks.map((rank) => rank.receive<Measured>()));
  return {
    exposedMs: slowest(replies.map(({ exposedMs }) => exposedMs)),
    stepMs: slowest(replies.map(({ stepMs }) => stepMs)),
  };
}

async function measureShape(gang: Gang, link: string, mebibytes: number, backwardMs: number): Promise<Line> {
  const measured: Record<"after" | "overlapped", Measured[]> = { after: [], overlapped: [] };
  for (let round = 0; round < rounds; round++) {
    for (const how of ["after", "overlapped"] as const) {
      const task = { elements: mebibytes * 2 ** 18, backwardMs, warmUps: 1, iterations: 3 };
      measured[how].push(await measure(gang, { ...task, overlap: how === "overlapped" }));
    }
  }
  const medians = (key: keyof Measured) => ({
    after: median(measured.after.flatMap((one) => one[key])),
    overlapped: median(measured.overlapped.flatMap((one) => one[key])),
  });
  return { link, mebibytes, backwardMs, exposedMs: medians("exposedMs"), stepMs: medians("stepMs") };
}

function renderTable(lines: readonly Line[]): string {
  const columns = [
    "link",
    "gradient",
    "backward",
    "exposed after",
    "exposed overlapped",
    "hidden",
    "step after",
    "step overlapped",
  ];
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const rows = lines.map(({ link, mebibytes, backwardMs, exposedMs, stepMs }) => [
    link,
    `${mebibytes} MiB`,
    `${backwardMs} ms`,
    ms(exposedMs.after),
    ms(exposedMs.overlapped),
    `${Math.round((1 - exposedMs.overlapped / exposedMs.after) * 100)} %`,
    ms(stepMs.after),
    ms(stepMs.overlapped),
  ]);
  return markdownTable(columns, rows);
}

/** Measures how much of an all-reduce's time a backward pass hides, on slow links and on none. */
export async function benchOverlap(args: readonly string[]): Promise<void> {
  const report = startReport(parseOptions(args, {}).json);
  const lines: Line[] = [];
  for (const [link, bytesPerSecond] of links) {
    const gang = await startGang(bytesPerSecond);
    try {
      for (const [mebibytes, backwardMs] of shapes) lines.push(await measureShape(gang, link, mebibytes, backwardMs));
    } finally {
      gang.close();
    }
  }
  report({ worldSize, lines }, `${worldSize} ranks, one leaf each; medians`, "", renderTable(lines));
}
