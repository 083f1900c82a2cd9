import * as fs from "node:fs";
import * as path from "node:path";
import { checkedDocument } from "../../adapters/files/checked-document";
import { isAlive, readStackFile } from "../../cli/stack-file";
import { temporaryFolder } from "../support/temporary-folder";

describe("stack.json", () => {
  const data = temporaryFolder("stack-file");
  const written = (text: string) => {
    fs.writeFileSync(path.join(data, "stack.json"), text);
    return readStackFile(data);
  };
  const stack = { pid: 4_000, endpoint: "http://127.0.0.1:1", api: "http://127.0.0.1:2", data: "/d", startedAt: "" };

  it("says where the stack is", () => expect(written(checkedDocument(stack))).toEqual(stack));

  it.each([
    ["half a file", '{"pid": 4'],
    ["null", "null"],
    ["nothing of a stack", "{}"],
    ["a document without its digest", JSON.stringify(stack)],
    ["a pid that means a group of processes", checkedDocument({ ...stack, pid: 0 })],
    ["a pid that is text", checkedDocument({ ...stack, pid: "4000" })],
    ["an API that is no URL", checkedDocument({ ...stack, api: "nowhere" })],
    ["another port than was written", checkedDocument(stack).replace("127.0.0.1:2", "127.0.0.1:3")],
  ])("is reported as damaged where it holds %s", (_what, text) => {
    expect(() => written(text)).toThrow(`${path.join(data, "stack.json")} is damaged`);
  });

  // A stack that was killed leaves its pid behind, and the system gives it to another: that one must not be stopped.
  it("does not take another program with the stack's old pid for it", () => {
    if (!fs.existsSync("/proc/1/cmdline")) return;
    const other = fs.readFileSync("/proc/1/cmdline", "utf8");
    expect(isAlive(1)).toBe(/stack\.js|ringmaster/.test(other));
  });
});
