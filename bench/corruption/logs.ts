import path from "node:path";
import { filterStreams, readStream } from "../../local/logs/read-events";
import { LogStore } from "../../local/logs/store";
import { Observation, type Subject } from "./subject";

const group = "/aws/lambda/bench";
const streams = ["first", "second"];
const always = { from: 0, to: Number.MAX_SAFE_INTEGER };
const logsOf = (directory: string) => path.join(directory, "logs");

/** Damages log files and their seals. A marker in the events reports damage. */
export function logSubject(): Subject {
  return {
    name: "logs",
    owns: (file) => file.startsWith("logs/"),
    namesOf: () => ["log stream"],
    async build(directory, round) {
      const store = new LogStore(logsOf(directory));
      if (round === 1) store.createGroup(group, 1);
      for (const name of streams) {
        const log = store.findStream(group, name) ?? store.createStream(group, name, 1);
        for (let n = 0; n < 30; n += 1) {
          const timestamp = round * 1000 + n;
          log.append([{ timestamp, message: `${name} ${timestamp}` }], timestamp);
        }
      }
    },
    async observe(directory) {
      const seen = new Observation();
      try {
        observeLogs(new LogStore(logsOf(directory)), seen);
      } catch (error) {
        seen.fail(error);
      }
      return seen;
    },
  };
}

/** Reads each stream in both directions, and the group through a filter. All three must report damage. */
function observeLogs(store: LogStore, seen: Observation): void {
  if (!store.listGroups().some(({ name }) => name === group)) throw new Error(`the group ${group} is missing`);
  const logs = store.listStreams(group);
  const take = (view: string, events: readonly { readonly message: string }[]) => {
    let previous = "";
    for (const { message } of events) {
      if (message.startsWith("[damaged]")) seen.fail(new Error(message));
      else seen.values.set(`${view} ${message}`, message > previous ? "in order" : `after ${previous}`);
      if (!message.startsWith("[damaged]")) previous = message;
    }
  };
  for (const log of logs) {
    seen.values.set(log.header.name, "a stream");
    take("forward", readStream(log, always, 10_000, true, undefined).events);
    take("backward", readStream(log, always, 10_000, false, undefined).events);
    take("filtered", filterStreams([log], always, (message) => message.includes("9"), 10_000, undefined).events);
  }
}
